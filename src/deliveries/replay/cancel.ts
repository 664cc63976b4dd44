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
  /** These webhooks have something due. */
  notify(due: Due[]): void;
}

/**
 * Ends a replay, and takes back what it has set going: from the commit on no claim takes that, whoever removes it.
 * Resolves with the replay, ended now or before, when no send of it can start any more; null without that replay.
 * `shipperId` is null for an operator, who may cancel anybody's. If it rejects, the replay goes on or is cancelled;
 * calling again sees to the rest.
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
      ended && // else that is for who ended it, or a worker
      takeBack(deps, { replayId, webhookId: ended.webhookId }).catch((error: unknown) =>
        logger.warn({ replayId, error: describeError(error) }, 'withdrawal left to the worker'),
      );
    // What was claimed before starts within that time; later PostgreSQL is asked, and says no.
    await Promise.all([takingBack, untilNoSendCanStart(times)]);
  }
  return findReplay(db, replayId, shipperId);
}

/**
 * Sees to what is left of cancelled replays: attempts that were under way have ended meanwhile, or whoever cancelled was
 * stopped in the middle. What goes wrong with one keeps no other waiting. Returns whether something is left.
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

/** Takes back what a cancelled replay has set going, page by page; what is being sent stays until that is over. */
async function takeBack(deps: WithdrawDependencies, replay: CancelledReplay): Promise<void> {
  for (let piece = 0; piece < piecesPerRun; piece += 1) {
    const page = await deps.db.transaction((tx) => takePageBack(tx, replay));
    if (!page) return;
    await seeToTheRest(deps, { webhookId: replay.webhookId, ...page });
    if (page.shipmentIds.length < takenBackAtOnce) return;
  }
}

/** In this order: a piece of another replay that takes over what this one owes has the lock on moves before its row, too. */
async function takePageBack(tx: Database, { replayId, webhookId }: CancelledReplay) {
  await lockMoves(tx, [webhookId]);
  if (!(await takeWithdrawing(tx, replayId))) return null;
  const page = await withdrawPage(tx, replayId, takenBackAtOnce);
  await saveWithdrawal(tx, replayId, page.shipmentIds.length);
  return page;
}

/** To be called after the commit. Lanes have passed by what nobody could claim; turns not given here the sweeper gives. */
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
