import { z } from 'zod';
import { described } from '../http/described.js';
import { moment, nextCursor, trackingId, uuid } from '../http/fields.js';
import { notice, notification } from './notification-docs.js';

const deliveryId = uuid('Identifier of the delivery: one event for one webhook.');
const eventId = described(
  z.string(),
  'The event: `webhook-id` of its notifications.',
  '0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b',
);

export const delivery = z
  .object({
    deliveryId,
    webhookId: uuid('The webhook it is for.'),
    eventId,
    trackingId: described(trackingId.nullable(), 'The shipment; null of tests and notices.'),
    state: described(z.string(), 'State that is told.', 'CREATED'),
    status: described(
      z.enum(['SUCCEEDED', 'PENDING', 'HELD', 'FAILED', 'CANCELLED']),
      '`PENDING` is due or waits for a retry, `HELD` waits for its turn or its webhook, `FAILED` has used up its retries.',
    ),
    reason: described(z.enum(['WEBHOOK_DELETED', 'SUPERSEDED']).nullable(), 'Why it is `CANCELLED`.', null),
    attemptCount: described(z.int().min(0), 'Attempts so far.', 1),
    nextAttemptAt: described(moment('').nullable(), 'When the next attempt is due; null if none is.', null),
    createdAt: moment('When the event was recorded.'),
    completedAt: moment('When it ended; null while it is open.').nullable(),
  })
  .meta({ id: 'Delivery', description: 'What is owed to one webhook for one event.' });

export const attempt = z
  .object({
    number: described(z.int().min(1), 'Counts from 1.', 1),
    trigger: described(
      z.enum(['SCHEDULED', 'MANUAL', 'TEST', 'REPLAY']),
      'What it was made for: the schedule, a redelivery, a test or a replay.',
    ),
    startedAt: moment('When it began.'),
    durationMs: described(z.int().min(0).nullable(), 'How long it took; null if it was cut off.', 84),
    statusCode: described(z.int().nullable(), 'HTTP status of the answer; null without one.', 200),
    errorCode: described(
      z
        .enum(['TIMEOUT', 'DNS', 'CONNECT', 'RESET', 'TLS', 'ADDRESS_DENIED', 'HTTP_STATUS', 'PROTOCOL'])
        .nullable(),
      'Why it failed; null if it did not.',
      null,
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
    attempts: described(z.array(attempt), 'All attempts, the first one first.'),
  })
  .meta({ id: 'DeliveryDetails', description: 'The delivery with its payload and all attempts.' });

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

export const replay = z
  .object({
    queued: described(z.int().min(0), 'Deliveries it will send, as counted now.', 12),
    replayId: uuid('Identifier of the replay, for the operator.'),
  })
  .meta({ id: 'Replay', description: 'The replay has begun; it sends up to 500 deliveries in two seconds.' });
