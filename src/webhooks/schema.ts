import { z } from 'zod';
import { described } from '../http/described.js';
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

/** Of requests and answers alike. */
export const fields = {
  interests: described(
    z.array(interest).min(1, 'must name at least one state, or *'),
    'States to be told of; `*` is all of them. `WEBHOOK_DISABLED`, `WEBHOOK_FAILING` and `WEBHOOK_RECOVERED` tell how the other webhooks are doing, and have to be named.',
    ['CREATED', 'DELIVERED'],
    { maxItems: 64 },
  ),
  status: described(
    z.enum(['ACTIVE', 'PAUSED', 'DISABLED'], 'must be ACTIVE, PAUSED or DISABLED'),
    'What a `PAUSED` or `DISABLED` webhook misses is held and goes out when it is `ACTIVE` again.',
  ),
  ordering: described(
    z.enum(['SHIPMENT', 'NONE'], 'must be SHIPMENT or NONE'),
    '`SHIPMENT`: the states of one shipment come one at a time, in order. `NONE`: each as soon as it can.',
  ),
  supersede: described(
    z.boolean(),
    'Leaves out a state that is still undelivered when a later one of the shipment is recorded.',
    false,
  ),
  headers: described(
    headers,
    'Headers to send along; those that the service or HTTP itself sets are refused.',
    { 'X-Team': 'logistics' },
    { maxProperties: 16 },
  ),
  description: described(
    z.string().max(1_000, 'must have at most 1,000 characters'),
    'Free text for yourself.',
    'Production',
  ),
};

/** The bodies of create and update. `policy` decides which addresses a webhook may point to. */
export function webhookSchemas(policy: DestinationPolicy) {
  const targetAddress = described(
    z.string().superRefine((text, context) => {
      const problem = checkTargetAddress(text, policy);
      if (problem) context.addIssue(problem);
    }),
    'Absolute URL that notifications are sent to.',
    'https://example.com/hooks/parcelhook',
    { format: 'uri', maxLength: 2_048 },
  );
  const interests = fields.interests
    .transform((names) => [...new Set(names)])
    .refine((names) => names.length <= 64, 'must have at most 64 names');
  const create = z.object({
    interests,
    targetAddress,
    status: fields.status.optional(),
    ordering: fields.ordering.optional(),
    supersede: fields.supersede.optional(),
    headers: fields.headers.optional(),
    description: fields.description.optional(),
  });
  const update = create
    .partial()
    .meta({ id: 'WebhookChanges', minProperties: 1 })
    .refine((fields) => Object.values(fields).some((value) => value !== undefined), {
      error: `must have at least one of ${Object.keys(create.shape).join(', ')}`,
    });
  return { create: create.meta({ id: 'NewWebhook' }), update };
}

export type WebhookInput = z.output<ReturnType<typeof webhookSchemas>['create']>;
export type WebhookChanges = z.output<ReturnType<typeof webhookSchemas>['update']>;
