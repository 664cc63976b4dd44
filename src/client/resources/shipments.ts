import { randomUUID } from 'node:crypto';
import type { Request } from '../api/operations.js';
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
import { itemsOf } from './pages.js';

export interface OrderOptions extends CallOptions {
  /** Names the order for 24 hours: the same again gives the first answer again. A new one unless given. */
  idempotencyKey?: string | undefined;
}

export interface Shipments {
  /** Hands over an order: it is committed when this resolves. Tries again under the same idempotency key: never two shipments. */
  create(order: Order, options?: OrderOptions): Promise<OrderResult>;
  /** One page, newest first. */
  list(query?: ShipmentQuery, options?: CallOptions): Promise<ShipmentPage>;
  /** All of them, newest first, page after page; `limit` is that of a page. */
  all(query?: ShipmentQuery, options?: CallOptions): AsyncIterable<ListedShipment>;
  /** Its state and how it came there. */
  track(trackingId: string, options?: CallOptions): Promise<Tracking>;
  /** Takes it on a journey, by default to DELIVERED, a state a second: where the service allows it, for trying it out. */
  simulate(trackingId: string, journey?: Partial<Journey>, options?: CallOptions): Promise<Journey>;
}

function checkedKey(key: string): string {
  if (typeof key === 'string' && /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/.test(key)) return key;
  throw new TypeError(
    'idempotencyKey must be 1 to 255 printable ASCII characters, the first and last no space.',
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
        headers: { 'idempotency-key': checkedKey(idempotencyKey) },
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
    // The document names the states of the deployment it was made from; another one may have its own.
    simulate: (trackingId, body = {}, options) =>
      send('post', '/v1/shipments/{trackingId}/simulate', { ...options, path: { trackingId }, body }).then(
        ({ data }) => data as Journey,
      ),
  };
}
