import { audited, type Actor } from '../../accounts/audit/audit.js';
import { describeError } from '../../platform/errors.js';
import type { Logger } from '../../platform/logger.js';
import type { Database } from '../../platform/database/postgres.js';
import { dueSinceUnknown, type Due } from '../outbox/hand-over.js';
import { lockMoves } from '../outbox/moves.js';
import { withdrawPage } from '../outbox/replay.js';
import { distinctTurns, giveTurns } from '../outbox/turns.js';
import { untilNoSendCanStart } from '../send/starts.js';
import type { Times } from '../times.js';
import { findReplay, type Replay } from './progress-store.js';
import {
  endReplay,
  findWithdrawing,
  isEnding,
  postponeReplay,
  saveWithdrawal,
  takeWithdrawing,
  type CancelledReplay,
} from './store.js';

const takenBackAtOnce = 1_000;
const piecesPerRun = 50;
const replaysPerRun = 20;
const troubledPauseMs = 2_000;

export interface WithdrawDependencies {
  db: Database;
  logger: Logger;
  orderHoldMs: number;
  /** Tells the lanes that these webhooks have something due. */
  notify(due: Due[]): void;
}

/**
 * Ends a replay and takes back what it has set going. From the commit on nobody claims those deliveries, even before
 * they are taken back. Resolves with the replay, whether it ended now or earlier, once no send of it can start any
 * more; with null if there is no such replay. `shipperId` is null for an operator, who may cancel any replay. If it
 * rejects, the replay may be cancelled or not; calling it again finishes the work.
 */
export async function cancelReplay(
  deps: WithdrawDependencies & { times: Times },
  actor: Actor,
  { replayId, shipperId }: { replayId: string; shipperId: string | null },
): Promise<Replay | null> {
  const { db, logger, times } = deps;
  const ended = await audited(
    db,
    actor,
    (tx) => endReplay(tx, replayId, shipperId),
    (end) => end && { action: 'REPLAY_CANCELLED', webhookId: end.webhookId, shipperId: end.shipperId },
  );
  const withinMs = times.longestStartMs + times.startMarginMs;
  if (ended ?? (await isEnding(db, replayId, { shipperId, withinMs }))) {
    const takingBack =
      ended && // otherwise the call that ended it does this, or a worker
      takeBack(deps, { replayId, webhookId: ended.webhookId }).catch((error: unknown) =>
        logger.warn({ replayId, error: describeError(error) }, 'withdrawal left to the worker'),
      );
    // A claim made earlier starts within that time, or asks PostgreSQL again and is refused.
    await Promise.all([takingBack, untilNoSendCanStart(times)]);
  }
  return findReplay(db, replayId, shipperId);
}

/**
 * Takes back what is left of cancelled replays: deliveries that were being sent then, or whose cancelling process was
 * stopped halfway. One that fails does not delay the others. Returns whether something was left.
 */
export async function withdrawCancelled(deps: WithdrawDependencies): Promise<boolean> {
  const cancelled = await findWithdrawing(deps.db, replaysPerRun);
  for (const replay of cancelled)
    try {
      await takeBack(deps, replay);
    } catch (error) {
      const { replayId } = replay;
      deps.logger.warn({ replayId, error: describeError(error) }, 'replay is withdrawn later');
      await postponeReplay(deps.db, replayId, troubledPauseMs);
    }
  return cancelled.length > 0;
}

/** Takes back what a cancelled replay has set going, page by page; what is being sent stays until its attempt ends. */
async function takeBack(deps: WithdrawDependencies, replay: CancelledReplay): Promise<void> {
  for (let piece = 0; piece < piecesPerRun; piece += 1) {
    const page = await deps.db.transaction((tx) => takePageBack(tx, replay));
    if (!page) return;
    await seeToTheRest(deps, { webhookId: replay.webhookId, ...page });
    if (page.shipmentIds.length < takenBackAtOnce) return;
  }
}

/** Locks the moves before the replay's row, in the same order as another replay that takes over what this one owes. */
async function takePageBack(tx: Database, { replayId, webhookId }: CancelledReplay) {
  await lockMoves(tx, [webhookId]);
  if (!(await takeWithdrawing(tx, replayId))) return null;
  const page = await withdrawPage(tx, replayId, takenBackAtOnce);
  await saveWithdrawal(tx, replayId, page.shipmentIds.length);
  return page;
}

/**
 * To be called after the commit. Tells the lanes, which have passed over what could not be claimed, and gives turns. If
 * that fails, the sweeper gives them later.
 */
export async function seeToTheRest(
  { db, logger, notify, orderHoldMs }: WithdrawDependencies,
  { webhookId, shipmentIds, anythingDue }: { webhookId: string; shipmentIds: string[]; anythingDue: boolean },
): Promise<void> {
  if (anythingDue) notify(dueSinceUnknown([webhookId]));
  const turns = distinctTurns(shipmentIds.map((shipmentId) => ({ webhookId, shipmentId })));
  try {
    if (turns.length > 0) notify(await giveTurns(db, turns, orderHoldMs));
  } catch (error) {
    logger.warn({ webhookId, error: describeError(error) }, 'turns not given');
  }
}
