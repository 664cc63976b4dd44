import { randomUUID } from 'node:crypto';
import { itemsOf, type Request } from '../http/operations.js';
import type {
  Journey,
  ListedShipment,
  Order,
  OrderResult,
  ShipmentPage,
  ShipmentQuery,
  Tracking,
} from '../api/types.js';
import type { CallOptions, Send } from '../http/send.js';

export interface OrderOptions extends CallOptions {
  /** For 24 hours, the same key returns the first response again. Default: a new key. */
  idempotencyKey?: string | undefined;
}

export interface Shipments {
  /** Hands over an order, which is committed when this resolves. Retries use the same idempotency key: one shipment results. */
  create(order: Order, options?: OrderOptions): Promise<OrderResult>;
  /** One page, newest first. */
  list(query?: ShipmentQuery, options?: CallOptions): Promise<ShipmentPage>;
  /** All shipments, newest first, read page by page; `limit` is the page size. */
  all(query?: ShipmentQuery, options?: CallOptions): AsyncIterable<ListedShipment>;
  /** A shipment's state and history. */
  track(trackingId: string, options?: CallOptions): Promise<Tracking>;
  /** Moves a shipment through states, by default to DELIVERED, one per second. Only if the service allows it. */
  simulate(trackingId: string, journey?: Partial<Journey>, options?: CallOptions): Promise<Journey>;
}

function validIdempotencyKey(key: string): string {
  if (typeof key === 'string' && /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/.test(key)) return key;
  throw new TypeError(
    'idempotencyKey must be 1 to 255 printable ASCII characters, without a space at either end.',
  );
}

export function shipments(request: Request<'/v1/'>, send: Send): Shipments {
  const list: Shipments['list'] = (query = {}, options) =>
    request('get', '/v1/shipments', { ...options, query });
  return {
    async create(order, { idempotencyKey = randomUUID(), ...options } = {}) {
      const { data, processId } = await send('post', '/v1/shipments', {
        ...options,
        body: order,
        headers: { 'idempotency-key': validIdempotencyKey(idempotencyKey) },
        repeatable: true,
      });
      return { ...data, processId } as OrderResult;
    },
    list,
    all: (query, options) =>
      itemsOf(
        (cursor) => list({ limit: 250, ...query, ...(cursor !== undefined && { cursor }) }, options),
        (page) => page.shipments,
      ),
    track: (trackingId, options) =>
      request('get', '/v1/shipment-tracking/{trackingId}', { ...options, path: { trackingId } }),
    // Not typed by the API document: a deployment may have its own states.
    simulate: (trackingId, body = {}, options) =>
      send('post', '/v1/shipments/{trackingId}/simulate', { ...options, path: { trackingId }, body }).then(
        ({ data }) => data as Journey,
      ),
  };
}
