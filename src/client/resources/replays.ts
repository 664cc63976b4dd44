import type { Request } from '../api/operations.js';
import type { ReplayPage, ReplayProgress, ReplayQuery } from '../api/types.js';
import type { CallOptions } from '../http/send.js';

export interface Replays {
  /** One page of those of a webhook, newest first. */
  list(webhookId: string, query?: ReplayQuery, options?: CallOptions): Promise<ReplayPage>;
  /** How far it has come. */
  get(replayId: string, options?: CallOptions): Promise<ReplayProgress>;
  /** When this resolves no send of it starts any more. */
  cancel(replayId: string, options?: CallOptions): Promise<ReplayProgress>;
}

export function replays(request: Request<'/v1/'>): Replays {
  return {
    list: (webhookId, query = {}, options) =>
      request('get', '/v1/webhooks/{webhookId}/replays', { ...options, path: { webhookId }, query }),
    get: (replayId, options) => request('get', '/v1/replays/{replayId}', { ...options, path: { replayId } }),
    // One that is over stays as it is: cancelling twice does no harm.
    cancel: (replayId, options) =>
      request('post', '/v1/replays/{replayId}/cancel', { ...options, path: { replayId }, repeatable: true }),
  };
}
