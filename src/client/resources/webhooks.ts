import { asked, type Request } from '../api/operations.js';
import type { StatsQuery, WebhookStats } from '../api/types.js';
import type * as api from '../api/types.js';
import type { CallOptions, Send } from '../http/send.js';
import { itemsOf } from './pages.js';

export interface Webhooks {
  /** One page. */
  list(query?: api.WebhookQuery, options?: CallOptions): Promise<api.WebhookPage>;
  /** All of them, page after page. */
  all(query?: api.WebhookQuery, options?: CallOptions): AsyncIterable<api.ListedWebhook>;
  /** With how its deliveries have been doing. */
  get(webhookId: string, options?: CallOptions): Promise<api.WebhookWithHealth>;
  /** Registers one. The answer shows its `secret`, once. */
  create(webhook: api.NewWebhook, options?: CallOptions): Promise<api.WebhookWithSecret>;
  /** Merges: what is not named stays. */
  update(webhookId: string, changes: api.WebhookChanges, options?: CallOptions): Promise<api.Webhook>;
  /** When this resolves no send to it starts any more. */
  delete(webhookId: string, options?: CallOptions): Promise<api.DeletedWebhook>;
  /** Sends a sample now and resolves with the attempt, also where it failed. */
  test(webhookId: string, sample?: { state?: string }, options?: CallOptions): Promise<api.TestResult>;
  /** A new `secret`, shown once; the old one signs along for `overlap` (`24h` unless given). */
  rotateSecret(
    webhookId: string,
    rotation?: { overlap?: string },
    options?: CallOptions,
  ): Promise<api.RotatedSecret>;
  /** Sends what it missed in a span of time. */
  replay(webhookId: string, range: api.ReplayRange, options?: CallOptions): Promise<api.Replay>;
  /** Its attempts by the hour, of the last day unless `hours` says otherwise. */
  stats(webhookId: string, query?: StatsQuery, options?: CallOptions): Promise<WebhookStats>;
}

const one = '/v1/webhooks/{webhookId}';
/** It waits for the receiver. */
const testTimeoutMs = 30_000;

export function webhooks(request: Request<'/v1/'>, send: Send): Webhooks {
  const ask = asked(send);
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
      ask('delete', one, { ...options, path: { webhookId }, gone: { webhookId } }),
    // Its states are the deployment's own, those of the document the default ones.
    test: (webhookId, body = {}, options) =>
      ask('post', `${one}/test`, { timeoutMs: testTimeoutMs, ...options, path: { webhookId }, body }),
    rotateSecret: (webhookId, body = {}, options) =>
      request('post', `${one}/rotate-secret`, { ...options, path: { webhookId }, body }),
    replay: (webhookId, body, options) =>
      request('post', `${one}/replay`, { ...options, path: { webhookId }, body }),
    stats: (webhookId, query = {}, options) =>
      ask('get', `${one}/stats`, { ...options, path: { webhookId }, query }),
  };
}
