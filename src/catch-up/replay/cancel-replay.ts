import { audited, type Actor } from '../../accounts/audit.js';
import { withoutSlot, type OutsideSlot } from '../../http/route.js';
import { describeError } from '../../platform/errors.js';
import type { Database } from '../../platform/database/postgres.js';
import {
  distinctTurns,
  dueSinceUnknown,
  lockMoves,
  releaseTurns,
  untilNoSendCanStart,
} from '../../engine/engine.js';
import { withdrawPage, type WithdrawDependencies } from './piece-store.js';
import type { Durations } from '../../platform/durations.js';
import { findReplay, endReplay, isEnding, type Replay } from './request-store.js';
import {
  findWithdrawing,
  postponeReplay,
  saveWithdrawal,
  takeWithdrawing,
  type CancelledReplay,
} from './store.js';

const deliveriesPerPage = 1_000;
const pagesPerRun = 50;
const replaysPerRun = 20;
const retryPauseMs = 2_000;

/**
 * No process claims its deliveries after the commit, even before they are withdrawn. Resolves once none of its attempts
 * can start any more: with the replay, even one that ended earlier, or with null. `shipperId` is null for an operator,
 * who may cancel any replay. If it rejects, the replay may or may not be cancelled; a second call finishes the work.
 */
export async function cancelReplay(
  deps: WithdrawDependencies & { durations: Durations },
  actor: Actor,
  { replayId, shipperId }: { replayId: string; shipperId: string | null },
  outside: OutsideSlot = withoutSlot,
): Promise<Replay | null> {
  const { db, logger, durations } = deps;
  const ended = await audited(
    db,
    actor,
    (tx) => endReplay(tx, replayId, shipperId),
    (end) => end && { action: 'REPLAY_CANCELLED', webhookId: end.webhookId, shipperId: end.shipperId },
  );
  const withinMs = durations.maxStartMs + durations.startMarginMs;
  if (ended ?? (await isEnding(db, replayId, { shipperId, withinMs }))) {
    // An earlier claim starts within that time, or PostgreSQL refuses it.
    const noSendCanStart = untilNoSendCanStart(durations);
    if (ended)
      // if not, the call that ended it or a worker withdraws
      await withdraw(deps, { replayId, webhookId: ended.webhookId }).catch((error: unknown) =>
        logger.warn({ replayId, error: describeError(error) }, 'replay not withdrawn; a worker continues'),
      );
    await outside(() => noSendCanStart);
  }
  return findReplay(db, replayId, shipperId);
}

/**
 * Withdraws what the cancellation left because it was being sent or because the process stopped halfway. One failure
 * delays no other. Resolves with whether anything was left.
 */
export async function withdrawCancelled(deps: WithdrawDependencies): Promise<boolean> {
  const cancelled = await findWithdrawing(deps.db, replaysPerRun);
  for (const replay of cancelled)
    try {
      await withdraw(deps, replay);
    } catch (error) {
      const { replayId } = replay;
      deps.logger.warn({ replayId, error: describeError(error) }, 'replay not withdrawn; retrying later');
      await postponeReplay(deps.db, replayId, retryPauseMs);
    }
  return cancelled.length > 0;
}

async function withdraw(deps: WithdrawDependencies, replay: CancelledReplay): Promise<void> {
  for (let count = 0; count < pagesPerRun; count += 1) {
    const page = await deps.db.transaction((tx) => withdrawNextPage(tx, replay));
    if (!page) return;
    await notifyAndRelease(deps, { webhookId: replay.webhookId, ...page });
    if (page.shipmentIds.length < deliveriesPerPage) return;
  }
}

/** Locks the moves before the replay's row: another replay that takes over these deliveries locks in that order. */
async function withdrawNextPage(tx: Database, { replayId, webhookId }: CancelledReplay) {
  await lockMoves(tx, [webhookId]);
  if (!(await takeWithdrawing(tx, replayId))) return null;
  const page = await withdrawPage(tx, replayId, deliveriesPerPage);
  await saveWithdrawal(tx, replayId, page.shipmentIds.length);
  return page;
}

/** Lanes have skipped what could not be claimed. Call it after the commit; the sweeper does a failed release later. */
export async function notifyAndRelease(
  { db, logger, notify, orderHoldMs }: WithdrawDependencies,
  { webhookId, shipmentIds, anythingDue }: { webhookId: string; shipmentIds: string[]; anythingDue: boolean },
): Promise<void> {
  if (anythingDue) notify(dueSinceUnknown([webhookId]));
  const turns = distinctTurns(shipmentIds.map((shipmentId) => ({ webhookId, shipmentId })));
  try {
    if (turns.length > 0) notify(await releaseTurns(db, turns, orderHoldMs));
  } catch (error) {
    logger.warn({ webhookId, error: describeError(error) }, 'turns not released; the sweeper releases them');
  }
}
