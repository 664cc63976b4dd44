import type { Request } from '../api/operations.js';
import type * as api from '../api/types.js';
import type { CallOptions, Send } from '../http/send.js';
import { itemsOf } from './pages.js';

export interface Webhooks {
  /** One page. */
  list(query?: api.WebhookQuery, options?: CallOptions): Promise<api.WebhookPage>;
  /** All of them, page after page. */
  all(query?: api.WebhookQuery, options?: CallOptions): AsyncIterable<api.Webhook>;
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
}

const one = '/v1/webhooks/{webhookId}';

export function webhooks(request: Request<'/v1/'>, send: Send): Webhooks {
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
    async delete(webhookId, options) {
      const { data } = await send('delete', one, { ...options, path: { webhookId }, gone: { webhookId } });
      return data as api.DeletedWebhook;
    },
    async test(webhookId, body = {}, options) {
      const { data } = await send('post', `${one}/test`, { ...options, path: { webhookId }, body });
      return data as api.TestResult;
    },
    rotateSecret: (webhookId, body = {}, options) =>
      request('post', `${one}/rotate-secret`, { ...options, path: { webhookId }, body }),
    replay: (webhookId, body, options) =>
      request('post', `${one}/replay`, { ...options, path: { webhookId }, body }),
  };
}
