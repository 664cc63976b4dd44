import { audited, type Actor } from '../../accounts/audit/audit.js';
import { describeError } from '../../platform/errors.js';
import type { Logger } from '../../platform/logger.js';
import type { Database } from '../../platform/database/postgres.js';
import { lockMoves } from '../on-demand/store.js';
import type { Times } from '../outbox/times.js';
import { distinctTurns, giveTurns } from '../outbox/turns.js';
import { untilNoSendCanStart } from '../recovery/stop.js';
import {
  endReplay,
  findWithdrawing,
  removeWithdrawn,
  saveWithdrawal,
  takeWithdrawing,
  withdrawPage,
} from './cancel-store.js';
import { findReplay, type Replay } from './progress-store.js';

const withdrawnAtOnce = 10_000;
const removedAtOnce = 1_000;
const piecesPerTurn = 50;
const replaysPerTurn = 20;

export interface WithdrawDependencies {
  db: Database;
  logger: Logger;
  orderHoldMs: number;
  /** These webhooks have something due. */
  look(webhookIds: string[]): void;
}

/**
 * Ends a replay and takes back what it has set going. Resolves with the replay, ended now or before, when no send of it
 * can start any more; null without that replay. `shipperId` is null for an operator, who may cancel anybody's.
 */
export async function cancelReplay(
  deps: WithdrawDependencies & { times: Times },
  actor: Actor,
  { replayId, shipperId }: { replayId: string; shipperId: string | null },
): Promise<Replay | null> {
  const { db, logger } = deps;
  const ended = await audited(
    db,
    actor,
    (tx) => end(tx, replayId, shipperId),
    (replay) => replay && { action: 'REPLAY_CANCELLED', ...replay },
  );
  if (ended) {
    const withdrawal = withdraw(deps, replayId).catch((error: unknown) =>
      logger.warn({ replayId, error: describeError(error) }, 'withdrawal left to the worker'),
    );
    // What was claimed before the commit starts within that time or, when PostgreSQL was asked again, not at all.
    await Promise.all([withdrawal, untilNoSendCanStart(deps.times)]);
  }
  return findReplay(db, replayId, shipperId);
}

/** In this order: a piece of the replay has its row before the lock on moves, too. */
async function end(tx: Database, replayId: string, shipperId: string | null) {
  const ended = await endReplay(tx, replayId, shipperId);
  if (!ended) return null;
  await lockMoves(tx, [ended.webhookId]);
  const { released } = await withdrawPage(tx, replayId, withdrawnAtOnce);
  await saveWithdrawal(tx, replayId, released);
  return ended;
}

/**
 * Sees to what is left of cancelled replays: attempts that were under way have ended meanwhile, or who cancelled was
 * stopped in the middle. Returns whether something is left.
 */
export async function withdrawCancelled(deps: WithdrawDependencies): Promise<boolean> {
  const replayIds = await findWithdrawing(deps.db, replaysPerTurn);
  for (const replayId of replayIds) await withdraw(deps, replayId);
  return replayIds.length > 0;
}

/** Takes back what a cancelled replay has set going, page by page; what is being sent stays until that is over. */
async function withdraw(deps: WithdrawDependencies, replayId: string): Promise<void> {
  for (let piece = 0; piece < piecesPerTurn; piece += 1) {
    const taken = await deps.db.transaction((tx) => withdrawPiece(tx, replayId));
    if (!taken) return;
    const { webhookId, shipmentIds, goesOn } = taken;
    const turns = distinctTurns(shipmentIds.map((shipmentId) => ({ webhookId, shipmentId })));
    if (turns.length > 0) deps.look(await giveTurns(deps.db, turns, deps.orderHoldMs));
    if (!goesOn) return;
  }
}

async function withdrawPiece(tx: Database, replayId: string) {
  const webhookId = await takeWithdrawing(tx, replayId);
  if (webhookId === null) return null;
  await lockMoves(tx, [webhookId]);
  const { looked, released } = await withdrawPage(tx, replayId, withdrawnAtOnce);
  const shipmentIds = await removeWithdrawn(tx, replayId, removedAtOnce);
  const left = await saveWithdrawal(tx, replayId, released + shipmentIds.length);
  const goesOn = left && (looked === withdrawnAtOnce || shipmentIds.length === removedAtOnce);
  return { webhookId, shipmentIds, goesOn };
}
