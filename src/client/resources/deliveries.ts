import { itemsOf, type Request } from '../http/operations.js';
import type { Delivery, DeliveryDetails, DeliveryPage, DeliveryQuery, Redelivery } from '../api/types.js';
import type { CallOptions } from '../http/send.js';

export interface Deliveries {
  /** One page of the log, newest first. */
  list(query?: DeliveryQuery, options?: CallOptions): Promise<DeliveryPage>;
  /** All deliveries, newest first, read page by page; `limit` is the page size. */
  all(query?: DeliveryQuery, options?: CallOptions): AsyncIterable<Delivery>;
  /** A delivery with its payload and its attempts, newest first, 100 at a time. */
  get(
    deliveryId: string,
    query?: { attemptsCursor?: string },
    options?: CallOptions,
  ): Promise<DeliveryDetails>;
  /** Sends a delivery again now, with the same `webhook-id`. */
  redeliver(deliveryId: string, options?: CallOptions): Promise<Redelivery>;
}

export function deliveries(request: Request<'/v1/'>): Deliveries {
  const list: Deliveries['list'] = (query = {}, options) =>
    request('get', '/v1/deliveries', { ...options, query });
  return {
    list,
    all: (query, options) =>
      itemsOf(
        (cursor) => list({ limit: 250, ...query, ...(cursor !== undefined && { cursor }) }, options),
        (page) => page.deliveries,
      ),
    get: (deliveryId, query = {}, options) =>
      request('get', '/v1/deliveries/{deliveryId}', { ...options, path: { deliveryId }, query }),
    redeliver: (deliveryId, options) =>
      request('post', '/v1/deliveries/{deliveryId}/redeliver', { ...options, path: { deliveryId } }),
  };
}
