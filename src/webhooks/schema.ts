import { z } from 'zod';
import { checkTargetAddress, type DestinationPolicy } from './destination.js';

const interest = z
  .string()
  .regex(/^([A-Z][A-Z0-9_]{0,63}|\*)$/, 'must be * or a state name of A to Z, 0 to 9 and _, such as CREATED');

/** RFC 9110 §5.6.2: a header's name is a token. Those the service or HTTP itself sets are refused. */
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;
const reservedHeader =
  /^(host|content-length|content-type|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect|user-agent|proxy-.*|webhook-.*|parcelhook-.*)$/i;
const headerValue = /^[\t\x20-\x7e]{0,1000}$/;

const headers = z.record(z.string(), z.string()).superRefine((value, context) => {
  const names = Object.keys(value);
  if (names.length > 16) context.addIssue('must have at most 16 headers');
  for (const name of names) {
    const problem = !headerName.test(name)
      ? 'must be a header name of RFC 9110'
      : reservedHeader.test(name)
        ? 'is set by the service and must not be there'
        : !headerValue.test(value[name] ?? '')
          ? 'must be printable ASCII of at most 1,000 characters'
          : null;
    if (problem) context.addIssue({ code: 'custom', message: problem, path: [name] });
  }
});

/** The bodies of create and update. `policy` decides which addresses a webhook may point to. */
export function webhookSchemas(policy: DestinationPolicy) {
  const targetAddress = z.string().superRefine((text, context) => {
    const problem = checkTargetAddress(text, policy);
    if (problem) context.addIssue(problem);
  });
  const optional = {
    status: z.enum(['ACTIVE', 'PAUSED', 'DISABLED'], 'must be ACTIVE, PAUSED or DISABLED').optional(),
    ordering: z.enum(['SHIPMENT', 'NONE'], 'must be SHIPMENT or NONE').optional(),
    supersede: z.boolean().optional(),
    headers: headers.optional(),
    description: z.string().max(1_000, 'must have at most 1,000 characters').optional(),
  };
  const interests = z
    .array(interest)
    .min(1, 'must name at least one state, or *')
    .transform((names) => [...new Set(names)])
    .refine((names) => names.length <= 64, 'must have at most 64 names');
  const create = z.object({ interests, targetAddress, ...optional });
  const update = create
    .partial()
    .refine((fields) => Object.values(fields).some((value) => value !== undefined), {
      error: `must have at least one of ${Object.keys(create.shape).join(', ')}`,
    });
  return { create, update };
}

export type WebhookInput = z.output<ReturnType<typeof webhookSchemas>['create']>;
export type WebhookChanges = z.output<ReturnType<typeof webhookSchemas>['update']>;
