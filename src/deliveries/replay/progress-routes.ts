import * as z from 'zod';
import { actorOf } from '../../accounts/audit/audit.js';
import { idInPath } from '../../http/request/fields.js';
import { cutPage, isUuid, paging } from '../../http/request/paging.js';
import { route, type Route } from '../../http/route.js';
import { notFound } from '../../platform/errors.js';
import { findWebhook } from '../../webhooks/store.js';
import { replayList, replayProgress } from './answers.js';
import { cancelReplay } from './cancel/cancel.js';
import { findReplay, replaysOfWebhook, replayView, type Replay } from './progress-store.js';

const replayParams = z.object({ replayId: idInPath('The replay.') });

/** The progress of replays, and how to cancel one (contract, section 4). */
export function replayProgressRoutes(deps: Parameters<typeof cancelReplay>[0]): Route[] {
  const { db } = deps;
  const shown = (replay: Replay | null | false) => {
    if (!replay) throw notFound('This replay');
    return { data: replayView(replay) };
  };
  return [
    route({
      method: 'get',
      path: '/v1/webhooks/:webhookId/replays',
      summary: 'List the replays of a webhook, newest first',
      operationId: 'listReplays',
      tag: 'Webhooks',
      description: 'Those that are over are kept as long as the delivery log.',
      answers: { 200: replayList },
      params: z.object({ webhookId: idInPath('The webhook.') }),
      query: z.object(paging),
      handle: async ({ caller, params: { webhookId }, query: { limit, cursor } }) => {
        const webhook = isUuid(webhookId) && (await findWebhook(db, caller.shipperId, webhookId));
        if (!webhook) throw notFound('This webhook');
        const rows = await replaysOfWebhook(db, webhookId, cursor, limit + 1);
        const { page, nextCursor } = cutPage(rows, limit, ({ replayId }) => replayId);
        return { data: { replays: page.map(replayView), nextCursor } };
      },
    }),
    route({
      method: 'get',
      path: '/v1/replays/:replayId',
      summary: 'Get a replay',
      operationId: 'getReplay',
      tag: 'Webhooks',
      description: 'Shows how far it has come.',
      answers: { 200: replayProgress },
      params: replayParams,
      handle: async ({ caller, params: { replayId } }) =>
        shown(isUuid(replayId) && (await findReplay(db, replayId, caller.shipperId))),
    }),
    route({
      method: 'post',
      path: '/v1/replays/:replayId/cancel',
      summary: 'Cancel a replay',
      operationId: 'cancelReplay',
      tag: 'Webhooks',
      description:
        'After the answer no send of it starts; an attempt under way ends and is not retried. What is owed because of the replay only is `FAILED` again, or has no delivery, as before; what was held or waited for a retry anyway goes on as if there had been no replay. One that is over stays as it is.',
      answers: { 200: replayProgress },
      params: replayParams,
      handle: async ({ caller, params: { replayId } }) =>
        shown(
          isUuid(replayId) &&
            (await cancelReplay(deps, actorOf(caller), { replayId, shipperId: caller.shipperId })),
        ),
    }),
  ];
}
