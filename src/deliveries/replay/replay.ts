import { describeError } from '../../platform/errors.js';
import { timeOfId } from '../../platform/ids.js';
import type { Logger } from '../../platform/logger.js';
import type { Database } from '../../platform/database/postgres.js';
import { makePartitionsSince } from '../retention/partitions.js';
import { distinctTurns, giveTurns, holdTurns } from '../outbox/turns.js';
import type { Turn } from '../outbox/types.js';
import { lockMoves } from '../outbox/moves.js';
import { withdrawCancelled } from './cancel/cancel.js';
import {
  countDue,
  endWithWebhook,
  finishSettled,
  postponeReplay,
  replayPiece,
  saveProgress,
  takeReplay,
  whatReplaysNeed,
  type ReplayInHand,
} from './step-store.js';

const deliveriesPerPiece = 1_000;
const eventsPerPiece = 5_000;
const piecesPerRun = 20;
const troubledPauseMs = 2_000;
/** A webhook that has this many due already gets no more: its backlog stays in its events. */
const dueMax = 5_000;
const finishedAtOnce = 200;

export interface ReplayDependencies {
  db: Database;
  logger: Logger;
  retentionMs: number;
  orderHoldMs: number;
  /** How often a webhook's backlog is topped up. */
  replayEveryMs: number;
  /** These webhooks have something due. */
  look(webhookIds: string[]): void;
}

/**
 * Works replays off, each piece by piece: as fast as the receiver takes them, for a webhook gets no more while enough is
 * due already. A piece and its progress are one commit, so a replay goes on where it was after any stop. Ends those of
 * which all is settled, and sees to those that were cancelled. Returns whether there is more to do soon.
 */
export async function advanceReplays(deps: ReplayDependencies): Promise<boolean> {
  const { ripe, withdrawing } = await whatReplaysNeed(deps.db);
  const left = withdrawing && (await withdrawCancelled(deps));
  if (!ripe) return left;
  const walked = await walkOn(deps);
  await finishSettled(deps.db, { pauseMs: deps.replayEveryMs, limit: finishedAtOnce });
  return walked || left;
}

/** Makes the next pieces of those that look for deliveries still. Returns whether there are any. */
async function walkOn(deps: ReplayDependencies): Promise<boolean> {
  let any = false;
  for (let piece = 0; piece < piecesPerRun; piece += 1) {
    let replay: ReplayInHand | null = null;
    try {
      const turns = await deps.db.transaction(async (tx) => {
        replay = await takeReplay(tx);
        return replay && advance(deps, tx, replay);
      });
      if (!replay || !turns) break;
      any = true;
      const { webhookId } = replay as ReplayInHand;
      if (turns.length > 0) await giveTurns(deps.db, turns, deps.orderHoldMs);
      deps.look([webhookId]);
    } catch (error) {
      await postpone(deps, replay, error);
    }
  }
  return any;
}

/** What went wrong with one replay must not keep the others waiting behind it. */
async function postpone(
  deps: ReplayDependencies,
  replay: ReplayInHand | null,
  error: unknown,
): Promise<void> {
  if (!replay) throw error;
  deps.logger.warn({ replayId: replay.replayId, error: describeError(error) }, 'replay goes on later');
  await postponeReplay(deps.db, replay.replayId, troubledPauseMs);
}

async function advance(deps: ReplayDependencies, tx: Database, replay: ReplayInHand): Promise<Turn[]> {
  if (replay.webhookDeleted) {
    await endWithWebhook(tx, replay.replayId);
    return [];
  }
  if ((await countDue(tx, replay.webhookId, dueMax)) >= dueMax) {
    const pauseMs = deps.replayEveryMs / 2;
    await saveProgress(tx, replay.replayId, { lastEventId: null, sent: 0, walked: false, pauseMs });
    return [];
  }
  return sendPiece(deps, tx, replay);
}

async function sendPiece(deps: ReplayDependencies, tx: Database, replay: ReplayInHand): Promise<Turn[]> {
  // LOG_RETENTION may have been raised since: the log kept none of those days.
  if (replay.done === 0)
    await makePartitionsSince(deps.db, new Date(timeOfId(replay.lastEventId)), deps.retentionMs);
  await lockMoves(tx, [replay.webhookId]);
  const { lastEventId, sent, turns } = await replayPiece(tx, replay, {
    scanLimit: eventsPerPiece,
    sendLimit: deliveriesPerPiece,
    retentionMs: deps.retentionMs,
  });
  const distinct = distinctTurns(turns);
  if (distinct.length > 0) await holdTurns(tx, distinct, deps.orderHoldMs);
  const walked = lastEventId === null;
  await saveProgress(tx, replay.replayId, { lastEventId, sent, walked, pauseMs: 0 });
  deps.logger.info({ replayId: replay.replayId, webhookId: replay.webhookId, sent, walked }, 'replay');
  return distinct;
}
