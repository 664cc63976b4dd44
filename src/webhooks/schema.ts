import * as z from 'zod';
import {
  blankIsNull,
  described,
  evenIfFieldsAreWrong,
  idInPath,
  oneOfFields,
} from '../http/request/fields.js';
import { checkTargetAddress, masked, type DestinationPolicy } from '../engine/engine.js';
import { nearestName } from '../platform/issues.js';
import { addressPattern, asciiAddress, checkSyntax } from './address.js';

export const exampleSecret = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=';
const maxNameLength = 64;
const interestForm = /^([A-Z][A-Z0-9_]{0,63}|\*)$/;
const interestIn = (known: ReadonlySet<string>) =>
  z.string().regex(interestForm, {
    error: ({ input }) => {
      const written = String(input).slice(0, maxNameLength).trim().toUpperCase().replace(/[- ]/g, '_');
      const meant = misspelt(written, known) ?? written;
      const example = interestForm.test(meant) ? `; did you mean ${meant}?` : ', such as CREATED';
      return `must be * or a state name of A to Z, 0 to 9 and _${example}`;
    },
  });

/** The state that a name was meant to be, if it is none but within two letters of one. */
const misspelt = (name: string, known: ReadonlySet<string>): string | null =>
  known.has(name) || !interestForm.test(name) ? null : nearestName(name, known, 2);

const interestAmong = (known: ReadonlySet<string>) =>
  interestIn(known).refine((name) => misspelt(name, known) === null, {
    error: ({ input }) => `is not a state; did you mean ${misspelt(input as string, known)}?`,
  });

/** RFC 9110 §5.6.2: a header's name is a token. Those the service or HTTP itself sets are refused. */
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;
const reservedHeader =
  /^(host|content-length|content-type|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect|user-agent|traceparent|tracestate|proxy-.*|webhook-.*|parcelhook-.*)$/i;
const headerValue = /^[\t\x20-\x7e]{0,1000}$/;

const maxHeaders = 16;
const maxInterests = 64;
const oneInterest = 'must name at least one state, or *';
/** Names sent in `interests`: doubles collapse, so there may be more of them than interests. */
const maxNames = 1_000;
const maxAddressLength = 2_048;

function headerProblem(name: string, value: unknown, isMasked: (value: string) => boolean): string | null {
  if (!headerName.test(name)) return 'must be a valid header name (RFC 9110)';
  if (reservedHeader.test(name)) return 'is set by the service and cannot be given';
  if (typeof value === 'string' && !headerValue.test(value) && !isMasked(value))
    return 'must be printable ASCII of at most 1,000 characters';
  return null;
}

const headers = (isMasked: (value: string) => boolean) =>
  z.record(z.string(), z.string()).superRefine((given, context) => {
    const known = new Set<string>();
    for (const [name, value] of Object.entries(given)) {
      const isTwice = known.size === known.add(name.toLowerCase()).size;
      const message = isTwice
        ? 'appears twice: header names are case-insensitive'
        : headerProblem(name, value, isMasked);
      if (message) context.addIssue({ code: 'custom', message, path: [name] });
    }
  }, evenIfFieldsAreWrong);

const interestsText =
  'The states to be notified of. `*` stands for all of them but the notices, which report how your other webhooks are doing and must be named: `WEBHOOK_FAILING`, `WEBHOOK_RECOVERED`, `WEBHOOK_DISABLING`, `WEBHOOK_DISABLED` and `DELIVERY_EXHAUSTED`. A name within two letters of a state is refused.';

/** Characters that nobody sees. */
const hidden = String.raw`\u0000-\u001F\u007F-\u009F\u00AD\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFEFF`;
/** A path has it as one segment, which cannot be `.` or `..`. */
const nameForm = new RegExp(
  String.raw`^(?!\.{1,2}$)[^/ ${hidden}](?:[^/${hidden}]{0,62}[^/ ${hidden}])?$`,
  'u',
);
const webhookName = described(
  z.string().regex(nameForm, 'must be 1 to 64 printable characters without /, with no space at either end'),
  'What your programs know the webhook by: 1 to 64 printable characters without `/`.',
  'orders-production',
);

export const fields = {
  interests: described(z.array(interestIn(new Set())).min(1, oneInterest), interestsText, ['*'], {
    maxItems: maxInterests,
  }),
  status: described(
    z.enum(['ACTIVE', 'PAUSED', 'DISABLED'], 'must be ACTIVE, PAUSED or DISABLED'),
    'What a `PAUSED` or `DISABLED` webhook misses is held and sent once it is `ACTIVE` again. The service disables a webhook that fails for days, responds 410, or asks for it (`webhook-delivery: disable`).',
  ),
  statusToSet: described(
    z.enum(['ACTIVE', 'PAUSED'], 'must be ACTIVE or PAUSED'),
    'What a `PAUSED` webhook misses is held and sent once it is `ACTIVE` again.',
  ),
  ordering: described(
    z.enum(['SHIPMENT', 'NONE'], 'must be SHIPMENT or NONE'),
    '`SHIPMENT`: the states of one shipment come one at a time, in order. `NONE`: each as soon as possible.',
  ),
  supersede: described(
    z.boolean(),
    'Whether to skip a state that is not delivered yet when a later one of its shipment is recorded.',
    false,
  ),
  maxPerSecond: described(
    z
      .int('must be a whole number from 1 to 1,000')
      .min(1, 'must be at least 1')
      .max(1_000, 'must be at most 1,000')
      .nullable(),
    'Attempts that may begin in any second, of redeliveries and tests, too. Deliveries beyond that wait, `HELD` by `RATE`. Null means no limit.',
    null,
  ),
  description: described(
    z.string().max(1_000, 'must have at most 1,000 characters'),
    'Free text for yourself.',
    'Production',
  ),
};

/** Checks how many there are before each of them: a body has room for ten thousand, and every wrong one costs time. */
const fewInterests = (known: ReadonlySet<string>) =>
  described(
    z.array(z.unknown()).max(maxNames, `must have at most ${maxNames} names, doubles included`),
    interestsText,
    ['*'],
    { items: { type: 'string', pattern: interestForm.source }, minItems: 1, maxItems: maxInterests },
  ).pipe(z.array(interestAmong(known)).min(1, oneInterest));

/** Checks how many there are first, as above. `valuePattern` is for the API's document, which cannot express the reserved names. */
const describedHeaders = (isMasked: (value: string) => boolean, valuePattern: string, more = '') =>
  described(
    z
      .record(z.string(), z.unknown())
      .refine((given) => Object.keys(given).length <= maxHeaders, `must have at most ${maxHeaders} headers`),
    `Headers to send with each notification; those that the service or HTTP itself sets are refused. No response shows their values.${more}`,
    { 'X-Team': 'logistics' },
    {
      maxProperties: maxHeaders,
      propertyNames: { pattern: headerName.source },
      additionalProperties: { type: 'string', pattern: valuePattern },
    },
  ).pipe(headers(isMasked));

/** 24 to 64 bytes. */
const ownSecretForm =
  /^whsec_(?:(?:[A-Za-z0-9+/]{4}){8,20}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?|(?:[A-Za-z0-9+/]{4}){21}(?:[A-Za-z0-9+/]{2}==)?)$/;
const ownSecret = described(
  z.string().regex(ownSecretForm, 'must be whsec_ and 24 to 64 random bytes in padded Base64'),
  'A secret of your own for a new webhook, so that your program has it from the start: `whsec_` and 24 to 64 random bytes in Base64. Only rotating changes it later.',
  exampleSecret,
);

export const notifyEmailText =
  'An address to tell by e-mail when the webhook fails, recovers, is or will be disabled, or has used up the retries of deliveries. An address that is no user’s of yours gets a link to confirm it first. Null: none.';
const notifyEmail = (mails: boolean) =>
  blankIsNull(
    described(
      z
        .string()
        .trim()
        .max(254, 'must have at most 254 characters')
        .regex(z.regexes.email, 'must be an e-mail address')
        .refine(() => mails, 'must be left out: this service sends no e-mails (SMTP_URL is not set)')
        .nullable(),
      notifyEmailText,
      null,
    ),
  );

export function webhookSchemas(
  policy: DestinationPolicy,
  knownInterests: ReadonlySet<string>,
  mails: boolean,
) {
  const targetAddress = described(
    z.string(),
    'Absolute URL that notifications are sent to; its host has at most 253 characters. A host in Unicode is converted to punycode.',
    'https://example.com/hooks/parcelhook',
    { pattern: addressPattern(policy), maxLength: maxAddressLength },
  )
    // An overlong address is refused anyway.
    .transform((text) => (text.length > maxAddressLength ? text : asciiAddress(text)))
    .superRefine((text, context) => {
      const problem = checkTargetAddress(text, policy) ?? checkSyntax(text);
      if (problem) context.addIssue(problem);
    });
  const interests = fewInterests(knownInterests)
    .transform((names) => [...new Set(names)])
    .refine((names) => names.length <= maxInterests, `must have at most ${maxInterests} names`);
  const settings = z.object({
    interests,
    targetAddress,
    status: fields.statusToSet.optional(),
    ordering: fields.ordering.optional(),
    supersede: fields.supersede.optional(),
    headers: describedHeaders(() => false, headerValue.source).optional(),
    maxPerSecond: fields.maxPerSecond.optional(),
    notifyEmail: notifyEmail(mails).optional(),
    description: described(
      fields.description.nullable(),
      'Free text for yourself; null means none.',
      'Production',
    )
      .transform((text) => text ?? '')
      .optional(),
  });
  const maskableHeaders = describedHeaders(
    (value) => value === masked,
    `${headerValue.source}|^${masked}$`,
    ` A value sent as \`${masked}\` stays unchanged, unless \`targetAddress\` moves to another origin: then it must be given again.`,
  );
  const create = settings
    .extend({
      name: blankIsNull(
        described(
          webhookName.nullable(),
          'The name by which your programs find the webhook; null for none. No two webhooks of yours have the same.',
          'orders-production',
        ),
      ).optional(),
    })
    .meta({ id: 'WebhookRegistration' });
  const changes = settings.partial().extend({ headers: maskableHeaders.optional() });
  const update = changes
    .meta({ id: 'WebhookChanges', ...oneOfFields(Object.keys(settings.shape)) })
    .refine((fields) => Object.values(fields).some((value) => value !== undefined), {
      error: `must have at least one of ${Object.keys(settings.shape).join(', ')}`,
    });
  const declare = changes
    .omit({ status: true })
    .extend({ secret: ownSecret.optional() })
    .meta({ id: 'WebhookDeclaration' });
  return { create, update, declare };
}

export type WebhookInput = z.output<ReturnType<typeof webhookSchemas>['create']>;
export type WebhookChanges = z.output<ReturnType<typeof webhookSchemas>['update']>;
export type WebhookDeclaration = z.output<ReturnType<typeof webhookSchemas>['declare']>;

const includes = ['health', 'stats'] as const;
export type Include = (typeof includes)[number];
const isInclude = (text: string): text is Include => includes.some((name) => name === text);

export const include = described(
  z.string(),
  'What to add to each webhook, separated by commas: `health` (how its deliveries are going) and `stats` (its attempts in the last 24 hours).',
  'health,stats',
  { pattern: `^(?:${includes.join('|')})(?:,(?:${includes.join('|')}))*$` },
)
  .transform((text) => text.split(','))
  .refine(
    (parts) => parts.every(isInclude),
    `must be one or more of ${includes.join(', ')}, separated by commas`,
  )
  .transform((parts) => new Set(parts.filter(isInclude)))
  .optional();

export const webhookParams = z.object({ webhookId: idInPath('The webhook.') });
export const namedParams = z.object({ name: webhookName });
