import { z } from 'zod';
import { route, type Route } from '../http/route.js';
import { notFound } from '../platform/errors.js';
import type { Database } from '../platform/postgres.js';
import type { AcceptOrder } from './accept.js';
import { orderSchema } from './order.js';
import { findTracking } from './store.js';

const idempotencyKey = z
  .string()
  .regex(/^[\x20-\x7e]{1,255}$/, 'must be 1 to 255 printable ASCII characters');

export function shipmentRoutes(deps: { db: Database; acceptOrder: AcceptOrder }): Route[] {
  return [
    route({
      method: 'post',
      path: '/v1/shipments',
      summary: 'Integrate an order',
      headers: z.object({ 'Idempotency-Key': idempotencyKey.optional() }),
      body: orderSchema,
      handle: ({ caller, headers, body }) =>
        deps.acceptOrder(caller.shipperId, body, headers['Idempotency-Key']),
    }),
    route({
      method: 'get',
      path: '/v1/shipment-tracking/:trackingId',
      summary: 'Track a shipment',
      params: z.object({ trackingId: z.string() }),
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
