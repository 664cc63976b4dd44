import * as z from 'zod';
import { actorOf } from '../../accounts/audit/audit.js';
import { described } from '../../http/described.js';
import { evenIfFieldsAreWrong, idInPath, trackingId } from '../../http/request/fields.js';
import { momentInBody } from '../../http/request/moments.js';
import { cutPage, isUuid, paging } from '../../http/request/paging.js';
import { route, type Route } from '../../http/route.js';
import { conflict, notFound } from '../../platform/errors.js';
import { newId } from '../../platform/ids.js';
import { isTooSlow, type Database } from '../../platform/database/postgres.js';
import { findWebhook } from '../../webhooks/store.js';
import type { WebhookLimits } from '../../webhooks/limits.js';
import { tooManyByHand } from '../on-demand/routes.js';
import { replayAsked, replayedStatuses, replayList, replayProgress } from './answers.js';
import { cancelReplay } from './cancel.js';
import { findReplay, replaysOfWebhook, replayView, type Replay } from './progress-store.js';
import { insertReplay, type Counted, type ReplayLimits } from './request-store.js';

/** A replay of more events than a request looks at counts its deliveries as it goes on. */
const limits: ReplayLimits = { maxOfWebhook: 10, maxOfShipper: 20, maxEvents: 10_000 };
const clockLeewayMs = 5_000;

const replayBody = z
  .object({
    from: momentInBody('First moment', '2026-11-20T00:00:00Z'),
    to: momentInBody('Last moment', '2026-11-21T12:00:00Z'),
    status: described(
      z.enum(replayedStatuses, `must be one of ${replayedStatuses.join(', ')}`),
      'Only deliveries that are this now. Without it also what never had a delivery.',
    ).optional(),
    trackingId: trackingId.regex(/^[A-Z0-9]{1,64}$/, 'must be a trackingId').optional(),
  })
  .meta({ id: 'ReplayRange', description: 'What to catch up on.' })
  .refine(({ from, to }) => !areMoments(from, to) || from < to, {
    path: ['from'],
    error: 'must be before to',
    ...evenIfFieldsAreWrong,
  });

/** A wrong one comes as it was sent. */
const areMoments = (...given: unknown[]) => given.every((moment) => moment instanceof Date);

export interface ReplayRoutesDependencies {
  db: Database;
  retentionMs: number;
  limits: WebhookLimits;
}

/** Catching up on what a webhook missed (contract, section 4). */
export function replayRoutes({ db, retentionMs, limits: webhookLimits }: ReplayRoutesDependencies): Route[] {
  return [
    route({
      method: 'post',
      path: '/v1/webhooks/:webhookId/replay',
      cost: 'dear',
      summary: 'Send what a webhook missed',
      operationId: 'replayWebhook',
      tag: 'Webhooks',
      description:
        'Catches up on the events of a span of time, oldest first: what failed, is held or waits for a retry, and what never was attempted because the webhook was paused, disabled or not yet registered. What succeeded is left alone. Where nothing is queued, `reason` says why. A span before what the delivery log still holds has nothing to send; `from` must be before `to`.',
      answers: { 202: replayAsked },
      errors: {
        409: `${limits.maxOfWebhook} replays of this webhook, or ${limits.maxOfShipper} of all your webhooks, look for deliveries already.`,
        429: `Too many requests, or ${tooManyByHand}`,
      },
      bodyExample: { from: '2026-11-20T00:00:00Z', to: '2026-11-21T12:00:00Z' },
      params: z.object({ webhookId: idInPath('The webhook.') }),
      body: replayBody,
      handle: async ({ caller: { shipperId }, params: { webhookId }, body }) => {
        const webhook = isUuid(webhookId) && (await findWebhook(db, shipperId, webhookId));
        if (!webhook) throw notFound('This webhook');
        await webhookLimits.byHand({ ...webhook, shipperId });
        const replayId = newId();
        const range = {
          webhookId,
          shipperId,
          from: body.from,
          to: body.to,
          keptSince: new Date(Date.now() - retentionMs),
          // What is recorded from now on reaches the webhook anyhow, also where another host's clock is ahead.
          latest: new Date(Date.now() + clockLeewayMs),
          deliveryStatus: body.status ?? null,
          trackingId: body.trackingId ?? null,
        };
        const counted = await insertReplay(db, replayId, range, limits).catch((error: unknown) => {
          if (!isTooSlow(error)) throw error;
          return insertReplay(db, replayId, range, { ...limits, maxEvents: 0 });
        });
        if (!counted) throw notFound(body.trackingId ? 'This webhook or shipment' : 'This webhook');
        if (counted === 'tooMany')
          throw conflict(
            `${limits.maxOfWebhook} replays of this webhook, or ${limits.maxOfShipper} of yours, look for deliveries; wait for one to have found all.`,
          );
        const reason = whyNothing(counted, range);
        return { httpStatus: 202, data: { queued: counted.total, reason, replayId } };
      },
    }),
  ];
}

type NothingQueued = 'NOTHING_RECORDED' | 'NO_INTEREST' | 'ALL_SUCCEEDED' | 'EXPIRED';

/**
 * Why a replay has nothing to send; null if it has, if that is not known yet, or if another status than asked for is
 * owed.
 */
function whyNothing(counted: Counted, range: { to: Date; keptSince: Date }): NothingQueued | null {
  if (counted.total !== 0) return null;
  if (range.to < range.keptSince) return 'EXPIRED';
  if (counted.wanted === 0 && counted.older) return 'EXPIRED';
  if (counted.recorded === 0) return 'NOTHING_RECORDED';
  if (counted.wanted === 0) return 'NO_INTEREST';
  if (counted.otherStatus > 0) return null;
  return counted.erased > 0 ? 'EXPIRED' : 'ALL_SUCCEEDED';
}

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
