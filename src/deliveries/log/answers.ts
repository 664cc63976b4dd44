import * as z from 'zod';
import { described } from '../../http/described.js';
import { moment, nextCursor, trackingId, uuid } from '../../http/request/fields.js';
import { masked } from '../../webhooks/at-rest/at-rest.js';
import { triggers } from '../outbox/types.js';
import { errorCodes, errorDetails } from '../send/errors.js';
import { holders } from './holds.js';
import { notice, notification } from './notification-docs.js';
import { deliveryStatuses } from './page-store.js';

const deliveryId = uuid('Identifier of the delivery: one event for one webhook.');
const eventId = described(
  z.string(),
  'The event: `webhook-id` of its notifications.',
  '0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b',
);

const delivery = z
  .object({
    deliveryId,
    webhookId: uuid('The webhook it is for.'),
    targetAddress: described(
      z.string(),
      'Where the webhook is called today, without the query.',
      'https://example.com/hooks/parcelhook',
      { format: 'uri' },
    ),
    eventId,
    trackingId: described(trackingId.nullable(), 'The shipment; null of tests and notices.'),
    shipperTrackingId: described(
      z.string().nullable(),
      'Your own identifier of the order; null of tests and notices.',
      'SHIPPER-1',
    ),
    state: described(z.string(), 'State that is told.', 'CREATED'),
    status: described(
      z.enum(deliveryStatuses),
      '`PENDING` is due or waits for a retry, `SENDING` has an attempt under way, `HELD` waits for what `heldBy` says, `FAILED` has used up its retries.',
    ),
    heldBy: described(
      z.enum(holders).nullable(),
      'Why it is `HELD`: an earlier state of the shipment is still owed, the webhook is given a rest or is not active, or the account is suspended.',
      null,
    ),
    nextProbeAt: described(
      moment('').nullable(),
      'When a webhook that is given a rest is tried next; null unless it is `HELD` by `CIRCUIT`.',
      null,
    ),
    reason: described(
      z.enum(['WEBHOOK_DELETED', 'SUPERSEDED', 'EXPIRED', 'ERASED']).nullable(),
      'Why it is `CANCELLED`: its webhook was deleted, a later state overtook it, it was owed for longer than the log is kept, or the personal data of its shipment was erased.',
      null,
    ),
    attemptCount: described(z.int().min(0), 'Attempts so far, one under way included.', 1),
    lastAttempt: described(
      z
        .object({
          startedAt: moment('When it began.'),
          durationMs: described(z.int().min(0).nullable(), 'How long it took; null if it was cut off.', 84),
          statusCode: described(z.int().nullable(), 'HTTP status of the answer; null without one.', 200),
          errorCode: described(z.enum(errorCodes).nullable(), 'Why it failed; null if it did not.', null),
        })
        .nullable(),
      'The last attempt that is over; null before.',
    ),
    nextAttemptAt: described(moment('').nullable(), 'When the next attempt is due; null if none is.', null),
    createdAt: moment('When the event was recorded.'),
    completedAt: moment('When it ended; null while it is open.').nullable(),
  })
  .meta({ id: 'Delivery', description: 'What is owed to one webhook for one event.' });

const attempt = z
  .object({
    number: described(z.int().min(1), 'Counts from 1.', 1),
    trigger: described(
      z.enum(triggers),
      'What it was made for: the schedule, a redelivery, a test or a replay.',
    ),
    startedAt: moment('When it began.'),
    durationMs: described(z.int().min(0).nullable(), 'How long it took; null if it was cut off.', 84),
    statusCode: described(z.int().nullable(), 'HTTP status of the answer; null without one.', 200),
    errorCode: described(z.enum(errorCodes).nullable(), 'Why it failed; null if it did not.', null),
    errorDetail: described(
      z.enum(errorDetails).nullable(),
      'More about the error, if there is more to say. `TOO_MANY_ADDRESSES`, with `DNS`: the name has more than 32 addresses, and none of them is called.',
      null,
    ),
    requestHeaders: described(
      z.record(z.string(), z.string()).nullable(),
      `The headers it was sent with, names in lower case; the values of the webhook's own are \`${masked}\`. Null where no request went out, where that is not known, where what it told was erased, and of attempts before an upgrade.`,
      {
        host: 'example.com',
        'x-team': masked,
        'content-type': 'application/json',
        'user-agent': 'Parcelhook/1.0.0',
        'webhook-id': '0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b',
        'webhook-timestamp': '1795262400',
        'webhook-signature': 'v1,AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=',
        'parcelhook-sequence': '1',
        'parcelhook-attempt': '1',
        'content-length': '245',
        connection: 'keep-alive',
      },
    ),
    responseBody: described(z.string().nullable(), 'First 4 KiB of the answer as text.', 'ok'),
  })
  .meta({ id: 'Attempt', description: 'One attempt, as it is in the log.' });

export const deliveryList = z
  .object({ deliveries: z.array(delivery), nextCursor })
  .meta({ description: 'Deliveries, newest first.' });

export const deliveryDetails = delivery
  .extend({
    payload: described(z.union([notification, notice]), 'The body that is sent.'),
    attempts: described(z.array(attempt), 'Attempts that are over, the newest first, 100 a page.'),
    nextAttemptsCursor: described(
      z.string().nullable(),
      'Send it as `attemptsCursor` for the attempts before; null at the end.',
      null,
    ),
  })
  .meta({ id: 'DeliveryDetails', description: 'The delivery with its payload and its attempts.' });

export const testResult = z
  .object({
    deliveryId,
    eventId,
    ...attempt.shape,
    trigger: described(z.literal('TEST'), 'What it was made for.'),
  })
  .meta({ id: 'TestResult', description: 'The attempt as it is in the log, whether it succeeded or not.' });

export const redelivery = z
  .object({ deliveryId })
  .meta({ description: 'Asked for: a worker sends it at once.' });
