import * as z from 'zod';
import { actorOf, audited, type Actor } from '../../accounts/audit.js';
import {
  trackingIdToFind,
  described,
  evenIfFieldsAreWrong,
  idInPath,
  trackingId,
  instant,
  nextCursor,
  uuid,
  instantInBody,
} from '../../http/request/fields.js';
import { isUuid, pageOf, paging } from '../../http/request/paging.js';
import { route, type Route, isoOffset } from '../../http/route.js';
import { conflict, notFound } from '../../platform/errors.js';
import { newId, timeOfId } from '../../platform/ids.js';
import { isTooSlow, type Database } from '../../platform/database/postgres.js';
import { webhookParams } from '../../webhooks/schema.js';
import { findWebhook } from '../../webhooks/store.js';
import type { WebhookLimits } from '../../webhooks/limits.js';
import { byHandLimitText } from '../by-hand.js';
import { cancelReplay } from './cancel-replay.js';
import {
  findReplay,
  replaysOfWebhook,
  insertReplay,
  replayedStatuses,
  type Replay,
  type ReplayCount,
  type ReplayLimits,
  type ReplayRange,
} from './request-store.js';

const nothingQueued = [
  'NOTHING_RECORDED',
  'NO_INTEREST',
  'ALL_SUCCEEDED',
  'EXPIRED',
  'ERASED',
  'PARKED',
  'OTHER_STATUS',
] as const;

const replayId = uuid('Identifier of the replay.');

export const replayAccepted = z
  .object({
    queued: described(
      z.int().min(0).nullable(),
      'Deliveries it will send, counted now; null if they are not counted yet, for example because the span has 10,000 events or more.',
      12,
    ),
    reason: described(
      z.enum(nothingQueued).nullable(),
      'Why `queued` is 0: nothing was recorded in that span, nothing that the webhook is interested in, everything succeeded or is on its way, the log no longer holds that span, or what is left of it was erased, or is parked (`parkedSince` of the webhook) and is sent without a replay as soon as the webhook is called again, or has another status than the requested one. Null if `queued` is not 0.',
      null,
    ),
    replayId,
  })
  .meta({ id: 'Replay', description: 'The replay has begun. It sends as fast as the receiver accepts.' });

export const replayProgress = z
  .object({
    replayId,
    webhookId: uuid('The webhook.'),
    status: described(
      z.enum(['RUNNING', 'DONE', 'CANCELLED']),
      '`DONE` once all its deliveries are settled.',
    ),
    done: described(z.int().min(0), 'Its deliveries that are settled: succeeded, failed or cancelled.', 7),
    total: described(z.int().min(0).nullable(), 'Deliveries to send; null until all are found.', 12),
    from: instant('Start of the span, as requested.'),
    to: instant('End of the span, as requested.'),
    deliveryStatus: described(
      z.enum(replayedStatuses).nullable(),
      'The requested `status`; null for all.',
      null,
    ),
    trackingId: described(trackingId.nullable(), 'The requested shipment; null for all.'),
    requestedBy: described(z.enum(['SHIPPER', 'OPERATOR']), 'The one who requested it.'),
    createdAt: instant('When it was requested.'),
    finishedAt: instant('When it ended; null before that.').nullable(),
  })
  .meta({ id: 'ReplayProgress', description: 'How far a replay has come.' });

const replayList = z
  .object({ replays: z.array(replayProgress), nextCursor })
  .meta({ description: 'Replays, newest first.' });

export const replayView = ({ lastEventId, endEventId, ...replay }: Replay) => ({
  ...replay,
  from: isoOffset(replay.from ?? new Date(timeOfId(lastEventId))),
  to: isoOffset(replay.to ?? new Date(timeOfId(endEventId) - 1)),
  createdAt: isoOffset(replay.createdAt),
  finishedAt: isoOffset(replay.finishedAt),
});

/** A replay of more than `maxEvents` counts its deliveries as it advances. */
const limits: ReplayLimits = { maxOfWebhook: 10, maxOfShipper: 20, maxEvents: 10_000 };
const clockLeewayMs = 5_000;

export const replayBody = z
  .object({
    from: instantInBody('Start of the span', '2026-11-20T00:00:00Z'),
    to: instantInBody('End of the span', '2026-11-21T12:00:00Z'),
    status: described(
      z.enum(replayedStatuses, `must be one of ${replayedStatuses.join(', ')}`),
      'Only deliveries with this status now. `NEVER_ATTEMPTED`: events without a delivery, and deliveries without an attempt that are held because the webhook is not called. Without it, all that was missed.',
    ).optional(),
    trackingId: trackingIdToFind.optional(),
  })
  .meta({ id: 'ReplayRange', description: 'What to send again.' })
  .refine(({ from, to }) => !areDates(from, to) || from < to, {
    path: ['from'],
    error: 'must be before to',
    ...evenIfFieldsAreWrong,
  });

/** A malformed time is still the text that was sent. */
const areDates = (...values: unknown[]) => values.every((value) => value instanceof Date);

export interface ReplayRequestDependencies {
  db: Database;
  retentionMs: number;
  limits: WebhookLimits;
}

export const replayErrors = {
  409: `${limits.maxOfWebhook} replays of this webhook, or ${limits.maxOfShipper} of all webhooks of its shipper, are still looking for deliveries.`,
  429: `Too many requests, or ${byHandLimitText}`,
};

export const replayExample = { from: '2026-11-20T00:00:00Z', to: '2026-11-21T12:00:00Z' };

export function replayRoutes(deps: ReplayRequestDependencies): Route[] {
  return [
    route({
      method: 'post',
      path: '/v1/webhooks/:webhookId/replay',
      cost: 'costly',
      summary: 'Send what a webhook missed',
      operationId: 'replayWebhook',
      tokenScopes: ['webhooks'],
      tag: 'Webhooks',
      description:
        'Sends the events of a time span again, oldest first: those whose delivery failed, is held or waits for a retry, and those never attempted because the webhook was paused, disabled or not yet registered. Deliveries that succeeded are not repeated. With `status` only a part of that is sent; `NEVER_ATTEMPTED` is what no attempt was made for. If nothing is queued, `reason` says why. Events older than the delivery log are not sent. `from` must be before `to`.',
      responses: { 202: replayAccepted },
      errors: replayErrors,
      bodyExample: replayExample,
      params: webhookParams,
      body: replayBody,
      handle: async ({ caller: { shipperId }, params: { webhookId }, body }) => ({
        httpStatus: 202,
        data: await requestReplay(deps, { shipperId, webhookId, ...body }, null),
      }),
    }),
  ];
}

/** Throws ApiError if the webhook's events may not be replayed. `operator`: null if the shipper asks. */
export async function requestReplay(
  { db, retentionMs, limits: webhookLimits }: ReplayRequestDependencies,
  { shipperId, webhookId, ...asked }: { shipperId: string; webhookId: string } & z.output<typeof replayBody>,
  operator: Actor | null,
): Promise<z.output<typeof replayAccepted>> {
  const webhook = await findWebhook(db, shipperId, webhookId);
  await webhookLimits.byHand({ ...webhook, shipperId });
  const replayId = newId();
  const range: ReplayRange = {
    webhookId,
    shipperId,
    from: asked.from,
    to: asked.to,
    loggedSince: new Date(Date.now() - retentionMs),
    // Later events reach the webhook anyway; the leeway is for hosts whose clock is ahead.
    latest: new Date(Date.now() + clockLeewayMs),
    deliveryStatus: asked.status ?? null,
    trackingId: asked.trackingId ?? null,
    ...(operator && { requestedBy: 'OPERATOR' }),
  };
  const insert = (within: ReplayLimits) =>
    operator === null
      ? insertReplay(db, replayId, range, within)
      : audited(
          db,
          operator,
          (tx) => insertReplay(tx, replayId, range, within),
          (done) => (isCounted(done) ? { action: 'REPLAY_REQUESTED', shipperId, webhookId } : null),
        );
  const counted = await insert(limits).catch((error: unknown) => {
    if (!isTooSlow(error)) throw error;
    return insert({ ...limits, maxEvents: 0 });
  });
  if (!counted) throw notFound(asked.trackingId ? 'This webhook or shipment' : 'This webhook');
  if (!isCounted(counted))
    throw conflict(
      `${limits.maxOfWebhook} replays of this webhook, or ${limits.maxOfShipper} of all webhooks of its shipper, are still looking for deliveries. Try again when one has found all of its own.`,
    );
  return { queued: counted.total, reason: whyNothingQueued(counted, range), replayId };
}

const isCounted = (done: ReplayCount | 'tooMany' | null): done is ReplayCount =>
  done !== null && done !== 'tooMany';

function whyNothingQueued(
  counted: ReplayCount,
  range: { to: Date; loggedSince: Date },
): (typeof nothingQueued)[number] | null {
  if (counted.total !== 0) return null;
  if (range.to < range.loggedSince) return 'EXPIRED';
  if (counted.wanted === 0 && counted.older) return 'EXPIRED';
  if (counted.recorded === 0) return 'NOTHING_RECORDED';
  if (counted.wanted === 0) return 'NO_INTEREST';
  if (counted.otherStatus > 0) return 'OTHER_STATUS';
  if (counted.parked > 0) return 'PARKED';
  return counted.erased > 0 ? 'ERASED' : 'ALL_SUCCEEDED';
}

const replayParams = z.object({ replayId: idInPath('The replay.') });

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
      tokenScopes: ['webhooks'],
      tag: 'Webhooks',
      description: 'Finished replays are stored as long as the delivery log.',
      responses: { 200: replayList },
      params: webhookParams,
      query: z.object(paging),
      handle: async ({ caller, params: { webhookId }, query }) => {
        await findWebhook(db, caller.shipperId, webhookId);
        const { after, rows, cut } = pageOf(`replays of ${webhookId}`, query);
        const replays = await replaysOfWebhook(db, webhookId, after, rows);
        const { page, nextCursor } = cut(replays, ({ replayId }) => replayId);
        return { data: { replays: page.map(replayView), nextCursor } };
      },
    }),
    route({
      method: 'get',
      path: '/v1/replays/:replayId',
      summary: 'Get a replay',
      operationId: 'getReplay',
      tokenScopes: ['webhooks'],
      tag: 'Webhooks',
      description: 'Shows its progress.',
      responses: { 200: replayProgress },
      params: replayParams,
      handle: async ({ caller, params: { replayId } }) =>
        shown(isUuid(replayId) && (await findReplay(db, replayId, caller.shipperId))),
    }),
    route({
      method: 'post',
      path: '/v1/replays/:replayId/cancel',
      summary: 'Cancel a replay',
      operationId: 'cancelReplay',
      tokenScopes: ['webhooks'],
      tag: 'Webhooks',
      description:
        'No attempt of the replay starts after the response; an attempt under way ends and is not retried. A delivery that only the replay made due is `FAILED` again or no longer exists, as before; a delivery that was held or waiting for a retry continues as if there had been no replay. A finished replay stays as it is.',
      responses: { 200: replayProgress },
      params: replayParams,
      handle: async ({ caller, params: { replayId } }, { outside }) =>
        shown(
          isUuid(replayId) &&
            (await cancelReplay(deps, actorOf(caller), { replayId, shipperId: caller.shipperId }, outside)),
        ),
    }),
  ];
}
