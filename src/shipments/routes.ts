import * as z from 'zod';
import { described } from '../http/described.js';
import * as fields from '../http/request/fields.js';
import { route, type Route } from '../http/route.js';
import { notFound } from '../platform/errors.js';
import type { Database } from '../platform/database/postgres.js';
import type { AcceptOrder } from './accept.js';
import { orderResult, tracking } from './answers.js';
import { orderSchema } from './order.js';
import { findTracking } from './store.js';

const idempotencyKey = described(
  // Spaces around a header's value are not part of it (RFC 9110, section 5.5).
  z
    .string()
    .regex(
      /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/,
      'must be 1 to 255 printable ASCII characters, the first and last no space',
    ),
  'Makes it safe to send the order again: for 24 hours the same key and body give the first answer again.',
  'order-1001',
);

export function shipmentRoutes(deps: { db: Database; acceptOrder: AcceptOrder }): Route[] {
  return [
    route({
      method: 'post',
      path: '/v1/shipments',
      takesNoTurn: true, // its turns are those of the admission
      summary: 'Integrate an order',
      operationId: 'integrateOrder',
      tag: 'Shipments',
      description:
        'Accepts the order: it is committed when 201 is answered. The shipment is created after that, normally within 100 ms, and then is in state `CREATED`.',
      answers: { 201: orderResult },
      hasProcessId: true,
      errors: { 409: 'The idempotency key was used with another body in the last 24 hours.' },
      headers: z.object({ 'Idempotency-Key': idempotencyKey.optional() }),
      body: orderSchema,
      handle: ({ caller, headers, body }) =>
        deps.acceptOrder(caller.shipperId, body, headers['Idempotency-Key']),
    }),
    route({
      method: 'get',
      path: '/v1/shipment-tracking/:trackingId',
      summary: 'Track a shipment',
      operationId: 'trackShipment',
      tag: 'Shipments',
      description: 'Works whether or not webhooks are registered.',
      answers: { 200: tracking },
      params: z.object({ trackingId: fields.trackingId }),
      handle: async ({ caller, params: { trackingId } }) => {
        const found =
          /^[A-Z0-9]{1,64}$/.test(trackingId) && (await findTracking(deps.db, caller.shipperId, trackingId));
        if (!found) throw notFound('This shipment');
        const { bodies, ...shipment } = found;
        return { data: { ...shipment, history: bodies.map(historyEntry) } };
      },
    }),
  ];
}

/** The part of a notification that a shipment's history shows. */
function historyEntry(body: string) {
  const { state, timestamp, lat, lng, anomalies, evidences } = JSON.parse(body) as Record<string, unknown>;
  return { state, timestamp, lat, lng, anomalies, evidences };
}
