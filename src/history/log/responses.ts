import * as z from 'zod';
import {
  described,
  exampleIds,
  instant,
  instantOrNull,
  nextCursor,
  trackingId,
  uuid,
} from '../../http/request/fields.js';
import { version } from '../../platform/version.js';
import {
  errorCodes,
  errorCodesExplained,
  errorDetails,
  errorDetailsExplained,
  masked,
  triggers,
} from '../../engine/engine.js';
import { heldByValues } from './store.js';
import { notice, notification } from '../../webhooks/notification-docs.js';
import { deliveryStatuses } from './page-store.js';

export const deliveryId = uuid('Identifier of the delivery: one event for one webhook.');
const eventId = described(
  z.string(),
  'The event; the `webhook-id` of its notifications.',
  exampleIds.eventId,
);

const errorCode = described(
  z.enum(errorCodes).nullable(),
  `Why it failed; null if it succeeded. ${errorCodesExplained}.`,
  null,
);

const delivery = z
  .object({
    deliveryId,
    webhookId: uuid('The webhook.'),
    targetAddress: described(
      z.string(),
      'Current address of the webhook, without the query.',
      'https://example.com/hooks/parcelhook',
      { format: 'uri' },
    ),
    eventId,
    trackingId: described(trackingId.nullable(), 'The shipment; null for tests and notices.'),
    shipperTrackingId: described(
      z.string().nullable(),
      'Your own identifier of the order; null for tests and notices.',
      'ORDER-1001',
    ),
    state: described(z.string(), 'State that it sends.', 'CREATED'),
    status: described(
      z.enum(deliveryStatuses),
      '`PENDING` is due or waits for a retry, `SENDING` has an attempt under way, `HELD` waits for the reason in `heldBy`, `FAILED` has used up its retries or was refused by its receiver (`reason`).',
      'SUCCEEDED',
    ),
    heldBy: described(
      z.enum(heldByValues).nullable(),
      'Why it is `HELD`: an earlier state of the shipment is still owed, the circuit of the webhook is open, the webhook is not active or called as fast as its `maxPerSecond` or its receiver allows, or the account is suspended.',
      null,
    ),
    nextProbeAt: instantOrNull(
      'When the wait of the circuit ends. The next probe is a delivery that is due by then, or else the next to become due, so this time may be in the past. Null unless it is `HELD` by `CIRCUIT`.',
    ),
    reason: described(
      z.enum(['WEBHOOK_DELETED', 'SUPERSEDED', 'EXPIRED', 'ERASED', 'REFUSED']).nullable(),
      'Why it is `CANCELLED`: its webhook was deleted, a later state superseded it, it was owed for longer than the log is kept, or the personal data of its shipment was erased. `REFUSED`: it is `FAILED` with retries left, because the response had the header `webhook-delivery: abort-message`. Otherwise null.',
      null,
    ),
    attemptCount: described(z.int().min(0), 'Attempts so far, including one under way.', 1),
    lastAttempt: described(
      z
        .object({
          startedAt: instant('When it began.'),
          durationMs: described(
            z.int().min(0).nullable(),
            'How long it took; null if that is not known.',
            84,
          ),
          statusCode: described(z.int().nullable(), 'HTTP status of the response; null without one.', 200),
          errorCode,
        })
        .nullable(),
      'The last finished attempt; null if there is none.',
    ),
    nextAttemptAt: instantOrNull('When the next attempt is due; null if none is.'),
    createdAt: instant('When the event was recorded.'),
    completedAt: instant('When it was settled; null before that.').nullable(),
  })
  .meta({ id: 'Delivery', description: 'One event owed to one webhook.' });

const notKept =
  'Also null for a success, unless it was made by hand or the service runs with `LOG_DETAIL=all`.';

const phase = (description: string, example: number) =>
  described(
    z.int().min(0).nullable(),
    `${description} Also null if the attempt ended before it. ${notKept}`,
    example,
  );

const waited = (description: string) => described(z.int().min(0), description, 0);

export const waitedMs = described(
  z
    .object({
      turn: waited('The wait for earlier states of its shipment.'),
      receiver: waited('The wait for your server, which had as many attempts as it may have at once.'),
      circuit: waited('The wait while the circuit of the webhook was open.'),
      paused: waited('The wait while the webhook was paused or disabled, or the account suspended.'),
      rate: waited(
        'The wait for the `maxPerSecond` of the webhook, for a receiver that was overloaded, or for a host that has not agreed to more yet.',
      ),
      us: waited('The wait for us, while it could have been sent.'),
    })
    .nullable(),
  'The time that the delivery waited before the attempt, in milliseconds, by cause: since the event was recorded for the first attempt, since it was due for any other. Null for redeliveries and tests, for a success within five seconds (unless the service runs with `LOG_DETAIL=all`), and if it is not known.',
);

const attempt = z
  .object({
    number: described(z.int().min(1), 'Number of the attempt, from 1.', 1),
    trigger: described(z.enum(triggers), 'What caused it: the schedule, a redelivery, a test or a replay.'),
    requestedBy: described(
      z.enum(['SHIPPER', 'OPERATOR']).nullable(),
      'The one who asked for the redelivery. Null for other attempts, and if that is not known.',
      null,
    ),
    startedAt: instant('When it began.'),
    durationMs: described(z.int().min(0).nullable(), 'How long it took; null if that is not known.', 84),
    dnsMs: phase(
      'How long the name took to resolve; 0 if it was in the cache. Null if the connection was reused, or if the address has no name.',
      12,
    ),
    connectMs: phase(
      'How long the TCP connection took, through the egress proxy where there is one. Null if the connection was reused.',
      18,
    ),
    tlsMs: phase('How long the TLS handshake took. Null if the connection was reused, or for `http:`.', 25),
    firstByteMs: phase('How long the response took to begin, from when the request was written.', 27),
    remoteAddress: described(
      z.string().nullable(),
      `IP address of your server that the attempt went to, even if no connection was made, and even behind an egress proxy. Null if none was chosen. ${notKept}`,
      '203.0.113.7',
    ),
    waitedMs,
    statusCode: described(z.int().nullable(), 'HTTP status of the response; null without one.', 200),
    errorCode,
    errorDetail: described(
      z.enum(errorDetails).nullable(),
      `More about the error; null if there is nothing to add. ${errorDetailsExplained}.`,
      null,
    ),
    requestHeaders: described(
      z.record(z.string(), z.string()).nullable(),
      `The headers of the request, with names in lower case. The values of the webhook's own headers are shown as \`${masked}\`. Null if no request was sent or that is not known, or if the event was erased. ${notKept}`,
      {
        host: 'example.com',
        'content-type': 'application/json',
        'user-agent': `Parcelhook/${version}`,
        'webhook-id': exampleIds.eventId,
        'webhook-timestamp': '1795262400',
        'webhook-signature': 'v1,AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=',
        traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00',
        accept: '*/*',
        'parcelhook-sequence': '1',
        'parcelhook-attempt': '1',
        'content-length': '195',
        connection: 'keep-alive',
      },
    ),
    responseHeaders: described(
      z.record(z.string(), z.string()).nullable(),
      `The headers of the response, with names in lower case. Repeated ones are joined by commas, the values of \`set-cookie\` are shown as \`${masked}\`. At most 4 KiB: a header that no longer fits is left out. Null if there was no response, or if the event was erased. ${notKept}`,
      { date: 'Sat, 21 Nov 2026 12:00:00 GMT', 'content-length': '2', connection: 'keep-alive' },
    ),
    responseBody: described(z.string().nullable(), 'First 4 KiB of the response as text.', 'ok'),
  })
  .meta({ id: 'Attempt', description: 'One attempt, as in the log.' });

export const deliveryList = z
  .object({ deliveries: z.array(delivery), nextCursor })
  .meta({ description: 'Deliveries, newest first.' });

export const deliveryDetails = delivery
  .extend({
    payload: described(z.union([notification, notice]), 'The body that is sent.'),
    attempts: described(z.array(attempt), 'Finished attempts, newest first, 100 per page.'),
    nextAttemptsCursor: described(
      z.string().nullable(),
      'Send it as `attemptsCursor` to get earlier attempts; null at the end.',
      null,
    ),
  })
  .meta({ id: 'DeliveryDetails', description: 'The delivery with its payload and its attempts.' });

export const testResult = z
  .object({
    deliveryId,
    eventId,
    ...attempt.shape,
    trigger: described(z.literal('TEST'), 'What caused it.'),
  })
  .meta({ id: 'TestResult', description: 'The attempt as in the log, whether it succeeded or not.' });
