import { setTimeout as sleep } from 'node:timers/promises';
import { audited, type Actor } from '../../../accounts/audit/audit.js';
import { describeError, unavailable } from '../../../platform/errors.js';
import type { Logger } from '../../../platform/logger.js';
import type { Database } from '../../../platform/database/postgres.js';
import { lockMoves } from '../../outbox/moves.js';
import type { Times } from '../../times.js';
import type { Due } from '../../outbox/hand-over.js';
import { distinctTurns, giveTurns } from '../../outbox/turns.js';
import { untilNoSendCanStart } from '../../send/starts.js';
import {
  endReplay,
  findUnmarked,
  findWithdrawing,
  removeWithdrawn,
  saveWithdrawal,
  takeWithdrawing,
  withdrawPage,
} from './store.js';
import { findReplay, type Replay } from '../progress-store.js';
import { postponeReplay } from '../step-store.js';

const markedAtOnce = 2_000;
const markedWithinMs = 3_000;
const markedAgainAfterMs = 20;
const removedAtOnce = 1_000;
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
 * Ends a replay and takes back what it has set going. Resolves with the replay, ended now or before, when no send of it
 * can start any more; null without that replay. `shipperId` is null for an operator, who may cancel anybody's. If it
 * rejects, the replay goes on or is cancelled; calling again sees to the rest.
 */
export async function cancelReplay(
  deps: WithdrawDependencies & { times: Times },
  actor: Actor,
  { replayId, shipperId }: { replayId: string; shipperId: string | null },
): Promise<Replay | null> {
  const { db } = deps;
  const ended = await audited(
    db,
    actor,
    (tx) => end(tx, replayId, shipperId),
    (end) => end && { action: 'REPLAY_CANCELLED', webhookId: end.webhookId, shipperId: end.shipperId },
  );
  if (ended) await giveTurnsAfterwards(deps, ended.webhookId, ended.released);
  const left = ended ?? (await findUnmarked(db, replayId, shipperId));
  if (left?.unmarked && !(await markAll(deps, replayId, markedWithinMs)))
    throw unavailable('What this replay has set going is being changed too often.');
  if (left) {
    const removal = ended ? removeNow(deps, replayId) : undefined; // who ended it does that, or a worker
    // What was claimed before it was marked starts within that time; later PostgreSQL is asked, and says no.
    await Promise.all([removal, untilNoSendCanStart(deps.times)]);
  }
  return findReplay(db, replayId, shipperId);
}

const removeNow = (deps: WithdrawDependencies, replayId: string) =>
  removeAll(deps, replayId).catch((error: unknown) =>
    deps.logger.warn({ replayId, error: describeError(error) }, 'withdrawal left to the worker'),
  );

/** In this order: a piece of the replay has its row before the lock on moves, too. */
async function end(tx: Database, replayId: string, shipperId: string | null) {
  const ended = await endReplay(tx, replayId, shipperId);
  return ended && { ...ended, ...(await markPage(tx, replayId, ended.webhookId)) };
}

/**
 * Sees to what is left of cancelled replays: attempts that were under way have ended meanwhile, or who cancelled was
 * stopped in the middle. What goes wrong with one keeps no other waiting. Returns whether something is left.
 */
export async function withdrawCancelled(deps: WithdrawDependencies): Promise<boolean> {
  const replayIds = await findWithdrawing(deps.db, replaysPerRun);
  for (const replayId of replayIds)
    try {
      await markAll(deps, replayId, 0);
      await removeAll(deps, replayId);
    } catch (error) {
      deps.logger.warn({ replayId, error: describeError(error) }, 'replay is withdrawn later');
      await postponeReplay(deps.db, replayId, troubledPauseMs);
    }
  return replayIds.length > 0;
}

/**
 * Marks all that a cancelled replay has set going, page by page: nobody claims it any more. What others have locked it
 * comes back to. False if something is unmarked after `withinMs`.
 */
async function markAll(deps: WithdrawDependencies, replayId: string, withinMs: number): Promise<boolean> {
  const endsAt = performance.now() + withinMs;
  while (true) {
    const page = await deps.db.transaction(async (tx) => {
      const webhookId = await takeWithdrawing(tx, replayId);
      return webhookId === null ? null : { webhookId, ...(await markPage(tx, replayId, webhookId)) };
    });
    if (page) await giveTurnsAfterwards(deps, page.webhookId, page.released);
    if (!page?.unmarked) return true;
    if (page.looked > 0) continue;
    if (performance.now() >= endsAt) return false;
    await sleep(markedAgainAfterMs);
  }
}

async function markPage(tx: Database, replayId: string, webhookId: string) {
  await lockMoves(tx, [webhookId]);
  const { looked, released } = await withdrawPage(tx, replayId, markedAtOnce);
  const { unmarked } = await saveWithdrawal(tx, replayId, released.length);
  return { looked, released, unmarked };
}

/** To be called after the commit; turns that are not given here the sweeper gives. */
async function giveTurnsAfterwards(
  { db, logger, notify, orderHoldMs }: WithdrawDependencies,
  webhookId: string,
  shipmentIds: string[],
): Promise<void> {
  const turns = distinctTurns(shipmentIds.map((shipmentId) => ({ webhookId, shipmentId })));
  try {
    if (turns.length > 0) notify(await giveTurns(db, turns, orderHoldMs));
  } catch (error) {
    logger.warn({ webhookId, error: describeError(error) }, 'turns not given');
  }
}

/** Takes what is marked out of the outbox, page by page; what is being sent stays until that is over. */
async function removeAll(deps: WithdrawDependencies, replayId: string): Promise<void> {
  for (let piece = 0; piece < piecesPerRun; piece += 1) {
    const removed = await deps.db.transaction((tx) => removePage(tx, replayId));
    if (!removed) return;
    const { webhookId, shipmentIds } = removed;
    await giveTurnsAfterwards(deps, webhookId, shipmentIds);
    if (shipmentIds.length < removedAtOnce) return;
  }
}

async function removePage(tx: Database, replayId: string) {
  const webhookId = await takeWithdrawing(tx, replayId);
  if (webhookId === null) return null;
  await lockMoves(tx, [webhookId]);
  const shipmentIds = await removeWithdrawn(tx, replayId, removedAtOnce);
  await saveWithdrawal(tx, replayId, shipmentIds.length);
  return { webhookId, shipmentIds };
}
