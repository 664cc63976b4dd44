import type { Logger } from '../platform/logger.js';
import type { Database } from '../platform/postgres.js';
import type { DeliveryQueue, DueDelivery } from './enqueue.js';
import { countDue, replayPiece, saveProgress, takeReplay, type ReplayTurn } from './replay-step-store.js';
import { sweepAfterMs } from './timing.js';

const deliveriesPerPiece = 500;
const eventsPerPiece = 5_000;
const pauseMs = 2_000;
const piecesPerSweep = 20;
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
    const due = await deps.db.transaction((tx) => advanceNext(deps, tx));
    if (!due) return;
    if (due.length > 0) deps.queue.enqueue(due);
  }
}

/** Null where no replay is due. */
async function advanceNext(deps: ReplayDependencies, tx: Database): Promise<DueDelivery[] | null> {
  const turn = await takeReplay(tx);
  if (!turn) return null;
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
