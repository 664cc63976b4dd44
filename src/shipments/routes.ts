import * as z from 'zod';
import { actorOf, audited } from '../accounts/audit.js';
import { isoOffset, route, type Route } from '../http/route.js';
import {
  isTrackingId,
  described,
  exampleIds,
  instantInQuery,
  momentMs,
  ownIdInQuery,
  stateInQuery,
  trackingId,
} from '../http/request/fields.js';
import type { NewEvent, RecordResult } from '../engine/engine.js';
import { pageOf, paging } from '../http/request/paging.js';
import { traced, traceHeaders } from '../http/request/trace.js';
import { markHeld } from '../http/request/watch.js';
import type { Database } from '../platform/database/postgres.js';
import { ApiError } from '../platform/errors.js';
import type { Tracing } from '../platform/telemetry/tracing.js';
import { orderResult, type AcceptOrder } from './accept.js';
import { orderSchemaOf, type OrderChecks } from './order.js';
import * as responses from './responses.js';
import { meaningsText, type StateCatalogue } from './states.js';
import {
  listShipments,
  type ListedShipment,
  findOrder,
  findShipment,
  findTracking,
  type PlacedOrder,
} from './store.js';

const idempotencyKey = described(
  // Spaces around a header value are not part of it (RFC 9110, section 5.5).
  z
    .string()
    .regex(
      /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/,
      'must be 1 to 255 printable ASCII characters, without spaces at the ends',
    ),
  'Makes it safe to send the order again: for 24 hours, the same key and body get the first response again. Unknown fields are not compared.',
  'order-1001',
);

export function shipmentRoutes(deps: {
  db: Database;
  acceptOrder: AcceptOrder;
  orderChecks: OrderChecks;
  itemsLimit: number;
  recordEvent(event: NewEvent): Promise<RecordResult>;
  tracing: Tracing;
}): Route[] {
  return [
    route({
      method: 'post',
      path: '/v1/shipments',
      ungated: true, // it has its own admission
      summary: 'Create an order',
      operationId: 'integrateOrder',
      tokenScopes: ['orders'],
      tag: 'Shipments',
      description:
        'A 201 means that the order is committed. The shipment is created right after it, normally within 100 ms, and its state is then `CREATED`.',
      responses: { 201: responses.orderResult },
      hasProcessId: true,
      errors: {
        409: 'The idempotency key was used with another body in the last 24 hours.',
        429: 'Too many requests, or you have reached the bytes that may be stored in a day (UTC).',
      },
      headers: z.object({ 'Idempotency-Key': idempotencyKey.optional(), ...traceHeaders }),
      body: orderSchemaOf(deps.orderChecks, deps.itemsLimit),
      handle: async ({ caller, headers, body }, raw) => {
        const result = await traced(deps.tracing, raw, (trace) =>
          deps.acceptOrder(caller.shipperId, body, headers['Idempotency-Key'], trace, (heldMs) =>
            markHeld(raw.response, heldMs),
          ),
        );
        return isLongPast(body.shipperDropoffDate) ? { ...result, warnings: [longPast] } : result;
      },
    }),
    route({
      method: 'post',
      path: '/v1/shipments/:trackingId/cancel',
      summary: 'Cancel a shipment',
      operationId: 'cancelShipment',
      tokenScopes: ['orders'],
      tag: 'Shipments',
      description:
        'Records `CANCELLED` as an event like any other: your webhooks are notified, and the shipment goes no further.',
      responses: { 202: responses.recordedEvent },
      errors: {
        409: 'The state of the shipment does not allow it any more. The message says what it allows.',
      },
      params: z.object({ trackingId }),
      headers: z.object(traceHeaders),
      responseExample: { eventId: exampleIds.eventId },
      handle: async ({ caller, params }, raw) => {
        const shipment = await findShipment(deps.db, caller.shipperId, params.trackingId);
        if (!shipment) throw notTracked();
        const { shipmentId } = shipment;
        const result = await traced(deps.tracing, raw, (trace) =>
          deps.recordEvent({ shipmentId, state: 'CANCELLED', trace }),
        );
        if (result instanceof ApiError) throw result;
        return { httpStatus: 202, data: result };
      },
    }),
    route({
      method: 'get',
      path: '/v1/shipments/:trackingId',
      summary: 'Get an order as it was placed',
      operationId: 'getOrder',
      tokenScopes: ['orders'],
      tag: 'Shipments',
      description:
        "`contentValue` has its fraction, unlike in the response to the order. Once the recipient's data and the contents are erased, `erasedAt` says when.",
      responses: { 200: responses.placedOrder },
      params: z.object({ trackingId }),
      handle: async ({ caller, params: { trackingId } }) => {
        const { shipperId } = caller;
        const read = (from: Database) =>
          isTrackingId(trackingId) ? findOrder(from, shipperId, trackingId) : Promise.resolve(null);
        const found =
          caller.support === undefined
            ? await read(deps.db)
            : await audited(deps.db, actorOf(caller), read, (order) =>
                order ? { action: 'ORDER_READ', shipperId, shipmentId: order.shipmentId } : null,
              );
        if (!found) throw notTracked();
        return { data: orderView(found) };
      },
    }),
    route({
      method: 'get',
      path: '/v1/shipment-tracking/:trackingId',
      summary: 'Track a shipment',
      operationId: 'trackShipment',
      tokenScopes: ['orders'],
      tag: 'Shipments',
      description: 'Works with and without webhooks.',
      responses: { 200: responses.tracking },
      params: z.object({ trackingId }),
      handle: async ({ caller, params: { trackingId } }) => {
        const found = isTrackingId(trackingId) && (await findTracking(deps.db, caller.shipperId, trackingId));
        if (!found) throw notTracked();
        const { notifications, ...shipment } = found;
        return { data: { ...shipment, history: notifications.map(historyEntry) } };
      },
    }),
  ];
}

/** The response to the order has the value of the contents without its fraction. */
const orderView = (placed: PlacedOrder) => {
  const { package: parcel, ...result } = orderResult(placed);
  return {
    ...result,
    package: { ...parcel, contentValue: placed.order.package.contentValue },
    acceptedAt: isoOffset(placed.acceptedAt),
    erasedAt: isoOffset(placed.erasedAt),
  };
};

const yearMs = 365 * 86_400_000;
const isLongPast = (moment: string) => momentMs(moment) < Date.now() - yearMs;
const longPast = { path: 'shipperDropoffDate', message: 'is more than a year ago; the order was accepted' };

/** Most callers who ask for an unknown shipment have sent their own identifier. */
const notTracked = () =>
  new ApiError(
    404,
    'NOT_FOUND',
    'No shipment has this trackingId. To find one by your own identifier, use GET /v1/shipments?shipperTrackingId=…',
  );

const historyEntry = ({ state, timestamp, lat, lng, anomalies, evidences }: Record<string, unknown>) => ({
  state,
  timestamp,
  lat,
  lng,
  anomalies,
  evidences,
});

export const listQuery = ({ names }: StateCatalogue) =>
  z.object({
    ...paging,
    shipperTrackingId: ownIdInQuery(
      'Only shipments with this identifier of yours, which need not be unique.',
    ),
    shipperTrackingIdPrefix: ownIdInQuery(
      'Only shipments for which your identifier begins with this; upper and lower case differ.',
      500,
    ),
    state: stateInQuery(
      names,
      'Only shipments in this state now. A shipment that is not created yet has no state.',
    ),
    from: instantInQuery('Only shipments accepted at this time or later', '2026-11-21T00:00:00Z'),
    to: instantInQuery('Only shipments accepted before this time', '2026-11-22T00:00:00Z'),
  });

export const listDescription =
  'With `state`, or with a `shipperTrackingIdPrefix` that more than 1,000 shipments have, a page checks at most 5,000 shipments: it may have fewer than `limit`, or none, although more follow. The list ends when `nextCursor` is null.';

/** By its own identifier, a shipper finds out whether an order was accepted: such a search reads the primary. */
export async function listPage(
  { db, readDb }: { db: Database; readDb: Database },
  shipperId: string,
  list: string,
  query: z.output<ReturnType<typeof listQuery>>,
) {
  const { filter, after, rows, cut } = pageOf(`${list} of ${shipperId}`, query);
  const source = filter.shipperTrackingId === undefined ? readDb : db;
  const found = await listShipments(source, shipperId, filter, after, rows);
  const { page, nextCursor } = cut(found.shipments, ({ shipmentId }) => shipmentId, found.checkedUpTo);
  return { shipments: page.map(view), nextCursor };
}

export function findingRoutes({
  catalogue,
  ...dbs
}: {
  db: Database;
  readDb: Database;
  catalogue: StateCatalogue;
}): Route[] {
  const states = statesOf(catalogue);
  return [
    route({
      method: 'get',
      path: '/v1/shipments',
      cost: 'costly',
      summary: 'List shipments, newest first',
      operationId: 'listShipments',
      tokenScopes: ['orders'],
      tag: 'Shipments',
      description: listDescription,
      responses: { 200: responses.shipmentList },
      query: listQuery(catalogue),
      handle: async ({ caller, query }) => ({
        data: await listPage(dbs, caller.shipperId, 'shipments', query),
      }),
    }),
    route({
      method: 'get',
      path: '/v1/states',
      summary: 'List the states of shipments',
      operationId: 'listStates',
      tokenScopes: ['orders', 'webhooks'],
      narrows: true,
      tag: 'Shipments',
      description: `The states that webhooks may be interested in, and those that may follow each. ${meaningsText}`,
      responses: { 200: responses.stateList },
      handle: () => Promise.resolve({ data: { states } }),
    }),
  ];
}

const view = (listed: ListedShipment) => ({
  ...listed,
  acceptedAt: isoOffset(listed.acceptedAt),
  updatedAt: isoOffset(listed.updatedAt),
});

const statesOf = ({ initial, names, next, isTerminal }: StateCatalogue) =>
  [...new Set([initial, ...names])].map((state) => ({
    state,
    terminal: isTerminal(state),
    next: next(state),
  }));
