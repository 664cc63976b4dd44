import { describeError } from '../platform/errors.js';
import { timeOfId } from '../platform/ids.js';
import type { Logger } from '../platform/logger.js';
import { isWithoutPartition, type Database } from '../platform/postgres.js';
import type { DeliveryQueue, DueDelivery } from './enqueue.js';
import { makePartitionsSince } from './partitions.js';
import {
  countDue,
  postponeReplay,
  replayPiece,
  saveProgress,
  takeReplay,
  type ReplayTurn,
} from './replay-step-store.js';
import { sweepAfterMs } from './timing.js';

const deliveriesPerPiece = 500;
const eventsPerPiece = 5_000;
const pauseMs = 2_000;
const piecesPerSweep = 20;
const troubledPauseMs = 10_000;
/** A webhook that has this many due already gets no more: its backlog stays in its events, not in the queue. */
const dueMax = 1_000;

export interface ReplayDependencies {
  db: Database;
  queue: Pick<DeliveryQueue, 'enqueue'>;
  logger: Logger;
  retentionMs: number;
}

/**
 * Works replays off, each piece by piece with a pause between: 500 deliveries in two seconds, however many workers
 * there are. A piece and its progress are one commit, so a replay goes on where it was after any stop.
 */
export async function advanceReplays(deps: ReplayDependencies): Promise<void> {
  for (let piece = 0; piece < piecesPerSweep; piece += 1) {
    let turn: ReplayTurn | null = null;
    try {
      const due = await deps.db.transaction(async (tx) => {
        turn = await takeReplay(tx);
        return turn && advance(deps, tx, turn);
      });
      if (!due) return;
      if (due.length > 0) deps.queue.enqueue(due);
    } catch (error) {
      await postpone(deps, turn, error);
    }
  }
}

/** What went wrong with one replay must not keep the others waiting behind it. */
async function postpone(deps: ReplayDependencies, turn: ReplayTurn | null, error: unknown): Promise<void> {
  if (!turn) throw error;
  deps.logger.warn({ replayId: turn.replayId, error: describeError(error) }, 'replay goes on later');
  await postponeReplay(deps.db, turn.replayId, troubledPauseMs);
  // LOG_RETENTION was raised since: the log kept none of those days.
  if (!isWithoutPartition(error)) return;
  await makePartitionsSince(deps.db, new Date(timeOfId(turn.lastEventId)));
  await postponeReplay(deps.db, turn.replayId, 0);
}

async function advance(deps: ReplayDependencies, tx: Database, turn: ReplayTurn): Promise<DueDelivery[]> {
  const nothing = { lastEventId: null, sent: 0, pauseMs };
  if (turn.webhookDeleted) {
    await saveProgress(tx, turn.replayId, { ...nothing, status: 'CANCELLED' });
    return [];
  }
  if ((await countDue(tx, turn.webhookId, dueMax)) >= dueMax) {
    await saveProgress(tx, turn.replayId, { ...nothing, status: 'RUNNING' });
    return [];
  }
  return sendPiece(deps, tx, turn);
}

async function sendPiece(deps: ReplayDependencies, tx: Database, turn: ReplayTurn): Promise<DueDelivery[]> {
  const { lastEventId, sent, due } = await replayPiece(tx, turn, {
    scanLimit: eventsPerPiece,
    sendLimit: deliveriesPerPiece,
    graceMs: sweepAfterMs,
    retentionMs: deps.retentionMs,
  });
  const status = lastEventId === null ? 'DONE' : 'RUNNING';
  // Where nothing was to be sent, the next events are looked at without a pause.
  await saveProgress(tx, turn.replayId, { lastEventId, sent, status, pauseMs: sent > 0 ? pauseMs : 0 });
  deps.logger.info({ replayId: turn.replayId, webhookId: turn.webhookId, sent, status }, 'replay');
  return due;
}
