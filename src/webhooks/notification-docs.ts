import * as z from 'zod';
import { anomalies, described, exampleIds, milliseconds, trackingId, uuid } from '../http/request/fields.js';
import { parametersOf } from '../http/openapi/document.js';
import { exampleOf, type SchemaCollector, type Operation, type Paths } from '../http/openapi/schemas.js';
import { notices } from '../engine/engine.js';

/** A test belongs to no shipment: receivers can tell it from a real notification. */
export const sampleShipment = { trackingId: 'TEST', shipperTrackingId: 'TEST-NOTIFICATION' };

/** The specification's notification ("Events"). */
export const notification = z
  .object({
    state: described(
      z.string(),
      'New state of the shipment. `GET /v1/states` lists them, and the reference says what each means.',
      'CREATED',
    ),
    label_id: described(z.string(), 'The same as `shipper_tracking_id`.', 'ORDER-1001'),
    anomalies,
    evidences: described(z.array(z.unknown()), 'Evidence reported with the state.', []),
    tracking_id: trackingId,
    shipper_tracking_id: described(z.string(), '`shipperTrackingId` of the order.', 'ORDER-1001'),
    timestamp: milliseconds('When the shipment entered the state, in milliseconds since 1970.'),
    lat: described(z.number().nullable(), 'Latitude; null if not reported.', null),
    lng: described(z.number().nullable(), 'Longitude; null if not reported.', null),
  })
  .meta({ id: 'Notification', description: 'A shipment entered a state.' });

/** A notice about one webhook of a shipper, which is sent to its others. */
export const notice = z
  .object({
    state: described(z.enum(notices), 'What happened to the webhook.'),
    webhook_id: uuid('The webhook concerned.'),
    target_address: described(
      z.string(),
      'Its address, without the query.',
      'https://example.com/hooks/parcelhook',
      {
        format: 'uri',
      },
    ),
    reason: described(
      z.enum(['GONE', 'REFUSED', 'FAILING', 'CIRCUIT_OPEN', 'NO_SUCCESS']).nullable(),
      '`GONE`: it responded 410. `REFUSED`: it responded with `webhook-delivery: disable`. `FAILING`: nothing succeeded for 5 days, with 10 failed attempts of 3 deliveries on 2 days, or soon will not have. `CIRCUIT_OPEN`: 90 % of at least 10 attempts in a minute failed, and its circuit opened. `NO_SUCCESS`: nothing succeeded for an hour. Else null.',
      'GONE',
    ),
    since: milliseconds(
      'When its first failure since its last success was; null if it was not failing.',
    ).nullable(),
    disables_at: milliseconds(
      'When it is disabled at the earliest, if nothing succeeds until then; else null.',
    ).nullable(),
    deliveries: described(
      z.int().min(1).nullable(),
      'Of `DELIVERY_EXHAUSTED`: the deliveries whose retries are used up since the last such notice; else null.',
      null,
    ),
    tracking_ids: described(
      z.array(trackingId).max(10).nullable(),
      'The shipments of some of these deliveries; else null.',
      null,
    ),
    timestamp: milliseconds('When it happened, in milliseconds since 1970.'),
  })
  .meta({
    id: 'Notice',
    description: 'One of your webhooks fails, has recovered, is or will be disabled, or has used up retries.',
  });

const sample = notification
  .extend({
    label_id: described(z.literal(sampleShipment.shipperTrackingId), 'The same as `shipper_tracking_id`.'),
    tracking_id: described(z.literal(sampleShipment.trackingId), 'No shipment.'),
    shipper_tracking_id: described(z.literal(sampleShipment.shipperTrackingId), 'No order.'),
  })
  .meta({ description: 'A sample notification.' }); // without an id: oapi-codegen drops what only a notification uses

interface NotificationKind {
  /** `shipmentState` */
  name: string;
  title: string;
  /** When it is sent, and to which webhooks. */
  about: string;
  payload: z.ZodObject;
}

const kinds: NotificationKind[] = [
  {
    name: 'shipmentState',
    title: 'A shipment entered a state',
    about: 'Sent to every webhook whose `interests` include the state or `*`.',
    payload: notification,
  },
  {
    name: 'webhookNotice',
    title: 'A webhook is failing, has recovered, is or will be disabled, or has used up retries',
    about: 'Sent to the other webhooks of the shipper whose `interests` name it; `*` does not include it.',
    payload: notice,
  },
  {
    name: 'testNotification',
    title: 'A test notification',
    about: 'Sent by `POST /v1/webhooks/{webhookId}/test`. It is never retried.',
    payload: sample,
  },
];

/** The headers of every attempt. */
const attemptHeaders = z.object({
  'webhook-id': described(
    z.string(),
    'Identifier of the event, the same for all attempts: deduplicate by it.',
    exampleIds.eventId,
  ),
  'webhook-timestamp': described(
    z.string(),
    'When the attempt was signed, in seconds since 1970.',
    '1795262400',
    {
      pattern: '^\\d+$',
    },
  ),
  'webhook-signature': described(
    z.string().regex(/^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)*$/),
    '`v1,` and the signature in Base64; several, separated by spaces, after a rotation.',
    'v1,AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=',
  ),
  'Parcelhook-Sequence': described(
    z.string().regex(/^[1-9]\d*$/),
    'Number of the event within its shipment, from 1. It shows whether a state is missing or late.',
    '1',
  ),
  'Parcelhook-Attempt': described(z.string().regex(/^[1-9]\d*$/), 'Number of the attempt, from 1.', '1'),
  traceparent: described(
    z.string().regex(/^00-[\da-f]{32}-[\da-f]{16}-0[01]$/),
    'W3C Trace Context: the trace id of the request that caused the event, the same for all attempts, and the attempt within it.',
    '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00',
  ),
});

const delivery =
  'Any 2xx within the timeout (15 s unless configured otherwise) is a success. Anything else, redirects included, is a failure and is retried after 5 s, 5 m, 30 m, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h, each ±10 %. Delivery is at least once: deduplicate by `webhook-id`.';

const signature =
  'Signed per Standard Webhooks: the HMAC-SHA256 of `webhook-id`, `webhook-timestamp` and the body as received, joined by full stops, with the Base64 of the secret after `whsec_` as the key. Compare in constant time, and refuse a timestamp that is more than five minutes off.';

const deliveryHeader = (values: string[]) => ({
  description: [
    values.includes('abort-message') &&
      '`abort-message`: no further attempt is made; the delivery is `FAILED` with the reason `REFUSED`.',
    '`disable`: disables the webhook, as a 410 does.',
    'In any case of letters; other values are ignored.',
  ]
    .filter(Boolean)
    .join(' '),
  schema: { type: 'string', enum: values },
});

const responses: Operation['responses'] = {
  '2XX': {
    description: 'Accepted. The content of the response does not matter; its first 4 KiB are logged.',
    headers: { 'webhook-delivery': deliveryHeader(['disable']) },
  },
  410: { description: 'Gone: disables the webhook at once.' },
  default: {
    description: 'Not accepted: retried later.',
    headers: {
      'Retry-After': {
        description: 'Seconds or a date, at most 24 hours ahead: delays the next attempt, never advances it.',
        schema: { type: 'string' },
      },
      'webhook-delivery': deliveryHeader(['abort-message', 'disable']),
    },
  },
};

export function notificationDocs(schemas: SchemaCollector): Paths {
  const parameters = parametersOf(attemptHeaders, 'header', schemas);
  const operationOf = ({ name, title, about, payload }: NotificationKind): Operation => {
    const schema = schemas.toJson(payload, 'output');
    const example = exampleOf(schema, schemas.components);
    return {
      operationId: `receive${name.charAt(0).toUpperCase()}${name.slice(1)}`,
      tags: ['Notifications'],
      summary: title,
      description: [about, delivery, signature].join('\n\n'),
      'x-internal': true, // OpenAPI Generator makes no methods of it: its Python client would not compile
      security: [],
      parameters,
      requestBody: { required: true, content: { 'application/json': { schema, example } } },
      responses,
    };
  };
  return Object.fromEntries(kinds.map((kind) => [kind.name, { post: operationOf(kind) }]));
}
