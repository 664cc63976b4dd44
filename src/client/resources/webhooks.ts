import { itemsOf, untypedRequest, type Request } from '../http/operations.js';
import type * as api from '../api/types.js';
import type { CallOptions, Send } from '../http/send.js';

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
  /** Makes a new `secret`, shown once. The old one also signs for `overlap` (default: `24h`). */
  rotateSecret(
    webhookId: string,
    rotation?: { overlap?: string },
    options?: CallOptions,
  ): Promise<api.RotatedSecret>;
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
