import { itemsOf, type Request, untypedRequest } from '../http/operations.js';
import type * as api from '../api/types.js';
import type {
  Delivery,
  DeliveryDetails,
  DeliveryPage,
  DeliveryQuery,
  Redelivery,
  Journey,
  ListedShipment,
  Order,
  OrderResult,
  ShipmentPage,
  ShipmentQuery,
  Tracking,
} from '../api/types.js';
import type { CallOptions, Send } from '../http/send.js';
import { randomUUID } from 'node:crypto';

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

export interface OrderOptions extends CallOptions {
  /** The same key returns the first response again for 24 hours. Default: a new key. */
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

export interface Webhooks {
  /** One page. */
  list(query?: api.WebhookQuery, options?: CallOptions): Promise<api.WebhookPage>;
  /** All webhooks, read page by page. */
  all(query?: api.WebhookQuery, options?: CallOptions): AsyncIterable<api.ListedWebhook>;
  /** A webhook and the health of its deliveries. */
  get(webhookId: string, options?: CallOptions): Promise<api.WebhookWithHealth>;
  /** Registers a webhook. Only this response shows its `secret`. */
  create(webhook: api.NewWebhook, options?: CallOptions): Promise<api.WebhookWithSecret>;
  /** Changes the given fields only. */
  update(webhookId: string, changes: api.WebhookChanges, options?: CallOptions): Promise<api.Webhook>;
  /** After this resolves, no attempt to the webhook starts. */
  delete(webhookId: string, options?: CallOptions): Promise<api.DeletedWebhook>;
  /** Sends a sample now and returns the attempt, even if it failed. */
  test(webhookId: string, sample?: { state?: string }, options?: CallOptions): Promise<api.TestResult>;
  /** Makes a new `secret`, shown once. The old one also signs for `overlap` (default: `24h`); five earlier ones can. */
  rotateSecret(
    webhookId: string,
    rotation?: { overlap?: string },
    options?: CallOptions,
  ): Promise<api.RotatedSecret>;
  /** After this resolves, nothing is signed with an earlier secret. */
  endEarlierSecrets(webhookId: string, options?: CallOptions): Promise<api.EndedSecrets>;
  /** Sends what the webhook missed in a time range. */
  replay(webhookId: string, range: api.ReplayRange, options?: CallOptions): Promise<api.Replay>;
  /** Attempts per hour, by default of the last day. */
  stats(webhookId: string, query?: api.StatsQuery, options?: CallOptions): Promise<api.WebhookStats>;
}

const one = '/v1/webhooks/{webhookId}';
/** The service responds only after the receiver has. */
const testTimeoutMs = 30_000;

export function webhooks(request: Request<'/v1/'>, send: Send): Webhooks {
  const requestUntyped = untypedRequest(send);
  const list: Webhooks['list'] = (query = {}, options) =>
    request('get', '/v1/webhooks', { ...options, query });
  return {
    list,
    all: (query, options) =>
      itemsOf(
        (cursor) => list({ limit: 250, ...query, ...(cursor !== undefined && { cursor }) }, options),
        (page) => page.webhooks,
      ),
    get: (webhookId, options) => request('get', one, { ...options, path: { webhookId } }),
    create: (body, options) => request('post', '/v1/webhooks', { ...options, body }),
    update: (webhookId, body, options) => request('patch', one, { ...options, path: { webhookId }, body }),
    delete: (webhookId, options) =>
      requestUntyped('delete', one, { ...options, path: { webhookId }, gone: { webhookId } }),
    // Not typed by the API document: a deployment may have its own states.
    test: (webhookId, body = {}, options) =>
      requestUntyped('post', `${one}/test`, {
        timeoutMs: testTimeoutMs,
        ...options,
        path: { webhookId },
        body,
      }),
    rotateSecret: (webhookId, body = {}, options) =>
      request('post', `${one}/rotate-secret`, { ...options, path: { webhookId }, body }),
    endEarlierSecrets: (webhookId, options) =>
      request('delete', `${one}/secrets/previous`, { ...options, path: { webhookId } }),
    replay: (webhookId, body, options) =>
      request('post', `${one}/replay`, { ...options, path: { webhookId }, body }),
    stats: (webhookId, query = {}, options) =>
      requestUntyped('get', `${one}/stats`, { ...options, path: { webhookId }, query }),
  };
}

export interface Replays {
  /** One page of a webhook's replays, newest first. */
  list(webhookId: string, query?: api.ReplayQuery, options?: CallOptions): Promise<api.ReplayPage>;
  /** A replay and its progress. */
  get(replayId: string, options?: CallOptions): Promise<api.ReplayProgress>;
  /** After this resolves, no attempt of the replay starts. */
  cancel(replayId: string, options?: CallOptions): Promise<api.ReplayProgress>;
}

export function replays(request: Request<'/v1/'>): Replays {
  return {
    list: (webhookId, query = {}, options) =>
      request('get', '/v1/webhooks/{webhookId}/replays', { ...options, path: { webhookId }, query }),
    get: (replayId, options) => request('get', '/v1/replays/{replayId}', { ...options, path: { replayId } }),
    // A finished replay does not change, so this is safe to repeat.
    cancel: (replayId, options) =>
      request('post', '/v1/replays/{replayId}/cancel', { ...options, path: { replayId }, repeatable: true }),
  };
}
