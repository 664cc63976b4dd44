import { randomUUID } from 'node:crypto';
import type { Request } from '../api/operations.js';
import type { Order, OrderResult, Tracking } from '../api/types.js';
import type { CallOptions, Send } from '../http/send.js';

export interface OrderOptions extends CallOptions {
  /** Names the order for 24 hours: the same again gives the first answer again. A new one unless given. */
  idempotencyKey?: string | undefined;
}

export interface Shipments {
  /** Hands over an order: it is committed when this resolves. Tries again under the same idempotency key: never two shipments. */
  create(order: Order, options?: OrderOptions): Promise<OrderResult>;
  /** Its state and how it came there. */
  track(trackingId: string, options?: CallOptions): Promise<Tracking>;
}

export function shipments(request: Request<'/v1/'>, send: Send): Shipments {
  return {
    async create(order, { idempotencyKey = randomUUID(), ...options } = {}) {
      const { data, processId } = await send('post', '/v1/shipments', {
        ...options,
        body: order,
        headers: { 'idempotency-key': idempotencyKey },
        repeatable: true,
      });
      return { ...data, processId } as OrderResult;
    },
    track: (trackingId, options) =>
      request('get', '/v1/shipment-tracking/{trackingId}', { ...options, path: { trackingId } }),
  };
}
