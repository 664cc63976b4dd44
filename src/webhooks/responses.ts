import * as z from 'zod';
import { described, instant, instantOrNull, nextCursor, uuid } from '../http/request/fields.js';
import { masked } from '../engine/engine.js';
import { exampleSecret, fields, notifyEmailText } from './schema.js';

const webhookId = uuid('Identifier of the webhook.');
const secret = described(
  z.string().regex(/^whsec_/),
  'Verifies signatures: `whsec_` and 32 bytes in Base64. Store it; it is not shown again.',
  exampleSecret,
);

export const webhook = z
  .object({
    webhookId,
    interests: fields.interests,
    targetAddress: described(
      z.string(),
      'Where notifications are sent.',
      'https://example.com/hooks/parcelhook',
      { format: 'uri' },
    ),
    status: fields.status,
    disabledReason: described(
      z.enum(['GONE', 'REFUSED', 'FAILING']).nullable(),
      'Why it is `DISABLED`: it responded with 410 (`GONE`) or with the header `webhook-delivery: disable` (`REFUSED`), or nothing succeeded for 5 days, with 10 failed attempts of 3 deliveries on 2 days (`FAILING`).',
      null,
    ),
    name: described(
      z.string().nullable(),
      'The name by which your programs find the webhook; null for none.',
      null,
    ),
    ordering: fields.ordering,
    supersede: fields.supersede,
    headers: described(
      z.record(z.string(), z.string()),
      `Headers sent with each notification; instead of its value, each has \`${masked}\`.`,
      {},
    ),
    description: described(fields.description, 'Free text for yourself.', ''),
    maxPerSecond: fields.maxPerSecond,
    notifyEmail: described(z.string().nullable(), notifyEmailText, null),
    notifyEmailConfirmed: described(
      z.boolean().nullable(),
      'Whether e-mails are sent there: it is a user’s address, or was confirmed. Null without an address.',
      null,
    ),
    createdAt: instant('When it was registered.', '2026-11-20T16:00:00+00:00'),
    updatedAt: instant('When it was last changed.', '2026-11-20T16:00:00+00:00'),
    pausedBy: described(
      z.enum(['OPERATOR']).nullable(),
      '`OPERATOR`: the operator of the service has paused it, and only the operator can resume it. Else null.',
      null,
    ),
    unknownInterests: described(
      z.array(z.string()),
      'Interests that are not a state today. They are kept, because such a state may be added later.',
      [],
    ),
  })
  .meta({ id: 'Webhook', description: 'The webhook.' });

export const newWebhook = webhook
  .extend({ secret })
  .meta({ id: 'WebhookWithSecret', description: 'The webhook with its secret, which is shown only once.' });

export const declaredWebhook = webhook
  .extend({
    secret: described(
      secret.optional(),
      'Verifies signatures. Store it; it is not shown again. Absent if you gave one.',
      exampleSecret,
    ),
  })
  .meta({ id: 'DeclaredWebhook', description: 'The webhook is new.' });

const health = z.object({
  circuit: described(
    z.enum(['CLOSED', 'OPEN']),
    '`OPEN`: it failed too often, and attempts are stopped for a while.',
  ),
  nextProbeAt: instantOrNull(
    'When the wait of the circuit ends. The next probe is a delivery that is due by then, or else the next to become due, so this time may be in the past. Null while the circuit is closed.',
  ),
  failedSince: instantOrNull(
    'When an attempt failed for the first time since the last success; null if the last attempt succeeded.',
  ),
  disablesAt: instantOrNull(
    'When it is disabled at the earliest, if nothing succeeds until then: 5 days after its first failure since its last success. It also takes 10 failed attempts of 3 deliveries on 2 days (UTC). Null if it does not fail (90 % of at least 10 attempts in a minute, or an hour without a success over at least 3 attempts), or is not `ACTIVE`.',
  ),
  lastSuccessAt: instant(
    'When a notification last arrived; null if none did. It may be up to an hour early if that notification was recorded days, or 50 others of its state, before it arrived, or is no longer in the log.',
  ).nullable(),
  failureRate: described(
    z.number().min(0).max(1).nullable(),
    'Failed share of the attempts that began in the current hour (UTC) and the previous one, without tests; null if there are none.',
    0,
  ),
  pendingCount: described(z.int().min(0), 'Waiting deliveries, counted up to 10,000.', 0),
  parkedSince: instantOrNull(
    'Since when what it misses is stored only as a position in your events, because it was not called and too many deliveries waited for it. When it is called again, these events become deliveries, in order, and this is null.',
  ),
});

const secrets = z
  .object({
    rotatedAt: instantOrNull('When the current secret was made; null if it is the first one.'),
    earlier: described(
      z.array(z.object({ signsUntil: instant('When it stops signing.', '2026-11-22T12:00:00+00:00') })),
      'The earlier secrets that still sign, at most five; the first to end comes first.',
    ),
  })
  .meta({ description: 'Which secrets sign. None of them is shown.' });

export const webhookWithHealth = webhook.extend({ health, secrets }).meta({
  id: 'WebhookWithHealth',
  description: 'The webhook, how its deliveries are going, and which secrets sign.',
});

const count = (description: string, example: number) => described(z.int().min(0), description, example);
const percentile = (share: string, example: number) =>
  described(
    z.int().min(0).nullable(),
    `${share} of its attempts took at most this long, in milliseconds, to within 5 %; null if none has a duration.`,
    example,
  );

export const stats = z
  .object({
    hours: described(
      z.array(
        z.object({
          hour: instant('When the hour began.'),
          attempts: count('Attempts that began in that hour and are finished.', 42),
          succeeded: count('Attempts that succeeded.', 40),
          failed: count('Attempts that failed or were cut off.', 2),
          p50Ms: percentile('Half', 84),
          p95Ms: percentile('95 %', 210),
        }),
      ),
      'By hour, oldest first.',
    ),
  })
  .meta({
    id: 'WebhookStats',
    description:
      'Attempts by hour (UTC), including hours without any: the oldest first, the current one last.',
  });

const listedWebhook = webhook
  .extend({
    health: described(health.optional(), 'With `include=health`: how its deliveries are going.'),
    stats: described(stats.optional(), 'With `include=stats`: its attempts in the last 24 hours.'),
  })
  .meta({ id: 'ListedWebhook' });

export const webhookList = z
  .object({ webhooks: z.array(listedWebhook), nextCursor })
  .meta({ description: 'Webhooks in order of creation.' });

export const deletedWebhook = z
  .object({ webhookId })
  .meta({ description: 'The webhook is deleted. No attempt to it starts any more.' });

export const rotatedSecret = z
  .object({
    webhookId,
    secret: described(
      secret,
      'The new secret. Store it; it is not shown again.',
      'whsec_Hx4dHBsaGRgXFhUUExIREA8ODQwLCgkIBwYFBAMCAQA=',
    ),
    previousSecretValidUntil: instant(
      'When the old secret stops signing. Until then both sign, and so do those before it that were promised more time.',
      '2026-11-22T12:00:00+00:00',
    ),
  })
  .meta({ id: 'RotatedSecret', description: 'The new secret, which is shown only once.' });

export const endedSecrets = z
  .object({ webhookId, ended: count('How many secrets signed until now.', 1) })
  .meta({ description: 'The earlier secrets have ended.' });

const exampleFingerprint = Array.from({ length: 32 }, (_, at) =>
  (at * 7 + 16).toString(16).toUpperCase(),
).join(':');
export const egress = z
  .object({
    addresses: described(
      z.array(z.string()),
      'Networks in CIDR notation; empty if the operator has not named any.',
      ['198.51.100.0/28', '2001:db8:7::/64'],
    ),
    certificate: z
      .object({
        subject: described(z.string(), 'Its subject.', 'CN=parcelhook.example.com'),
        fingerprint256: described(z.string(), 'Its SHA-256 fingerprint.', exampleFingerprint),
        validTo: instant('When it ends.', '2030-01-15T00:00:00+00:00'),
      })
      .meta({
        description:
          'The certificate that a receiver is shown which asks for one (mTLS). Absent if there is none.',
      })
      .optional(),
  })
  .meta({ description: 'The addresses that notifications come from.' });
