import * as z from 'zod';
import { described } from '../http/described.js';
import { moment, nextCursor, uuid } from '../http/request/fields.js';
import { masked } from './at-rest/at-rest.js';
import { fields } from './schema.js';

const webhookId = uuid('Identifier of the webhook.');
const secret = described(
  z.string().regex(/^whsec_/),
  'Verifies signatures: `whsec_` and 32 bytes in Base64. Keep it; it is not shown again.',
  'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=',
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
      z.enum(['BY_SHIPPER', 'GONE', 'FAILING']).nullable(),
      'Why it is `DISABLED`: you did it, it answered 410, or nothing arrived for 5 days.',
      null,
    ),
    ordering: fields.ordering,
    supersede: fields.supersede,
    headers: described(
      z.record(z.string(), z.literal(masked)),
      `Headers that are sent along; their values are not shown.`,
      { 'X-Team': masked },
    ),
    description: fields.description,
    createdAt: moment('When it was registered.'),
    updatedAt: moment('When it was last changed.'),
    unknownInterests: described(
      z.array(z.string()),
      'Interests that are no state today. They are kept, for a state may come later.',
      [],
    ),
  })
  .meta({ id: 'Webhook', description: 'The webhook.' });

export const newWebhook = webhook
  .extend({ secret })
  .meta({ id: 'WebhookWithSecret', description: 'The webhook with its secret, which is shown only here.' });

const health = z.object({
  circuit: described(z.enum(['CLOSED', 'OPEN']), '`OPEN`: it failed too often and is given a rest.'),
  nextProbeAt: moment('When it is tried next while it is given a rest; else null.').nullable(),
  lastSuccessAt: moment(
    'When a notification last arrived; null if none did. It may be up to an hour early where that one was recorded days, or 50 others of its state, before it arrived, or is not in the log any more.',
  ).nullable(),
  failureRate: described(
    z.number().min(0).max(1).nullable(),
    'Failed share of the attempts that began in the current hour (UTC) and the one before it, tests left out; null without any.',
    0,
  ),
  pendingCount: described(z.int().min(0), 'Deliveries that wait; counted up to 10,000.', 0),
  parkedSince: moment(
    'It is not called and was owed so much at that time that what it misses since is kept as a place in your events. It becomes deliveries, in order, when the webhook is called again; then null.',
  ).nullable(),
});

export const webhookWithHealth = webhook
  .extend({ health })
  .meta({ id: 'WebhookWithHealth', description: 'The webhook and how its deliveries have been going.' });

const count = (description: string, example: number) => described(z.int().min(0), description, example);
const percentile = (share: string, example: number) =>
  described(
    z.int().min(0).nullable(),
    `${share} of its attempts took no longer, in milliseconds, to within 5 %; null where none has a duration.`,
    example,
  );

export const stats = z
  .object({
    hours: described(
      z.array(
        z.object({
          hour: moment('When it began.'),
          attempts: count('Attempts that began in it and are over.', 42),
          succeeded: count('Those that succeeded.', 40),
          failed: count('Those that failed, or were cut off.', 2),
          p50Ms: percentile('Half', 84),
          p95Ms: percentile('95 %', 210),
        }),
      ),
      'Hour by hour, the earliest first.',
    ),
  })
  .meta({
    id: 'WebhookStats',
    description:
      'Attempts by the hour (UTC), those without any included: the oldest first, the current one last.',
  });

const listedWebhook = webhook
  .extend({
    health: described(health.optional(), 'With `include=health`: how its deliveries have been going.'),
    stats: described(stats.optional(), 'With `include=stats`: its attempts of the last 24 hours.'),
  })
  .meta({ id: 'ListedWebhook' });

export const webhookList = z
  .object({ webhooks: z.array(listedWebhook), nextCursor })
  .meta({ description: 'Webhooks in the order of their creation.' });

export const deletedWebhook = z
  .object({ webhookId })
  .meta({ description: 'The webhook is gone: no send to it starts any more.' });

export const rotatedSecret = z
  .object({
    webhookId,
    secret,
    previousSecretValidUntil: moment('Until then every notification is signed with both secrets.'),
  })
  .meta({ id: 'RotatedSecret', description: 'The new secret, which is shown only here.' });
