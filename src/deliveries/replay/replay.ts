import { describeError } from '../../platform/errors.js';
import { timeOfId } from '../../platform/ids.js';
import type { Database } from '../../platform/database/postgres.js';
import { makePartitionsSince } from '../retention/partitions.js';
import { dueSinceUnknown } from '../outbox/hand-over.js';
import { distinctTurns, giveTurns, holdTurns } from '../outbox/turns.js';
import { lockMoves } from '../outbox/moves.js';
import { countOwed, replayPiece, type ReplayPiece } from '../outbox/replay.js';
import { withdrawCancelled } from './cancel.js';
import { unpark } from './parked.js';
import {
  afterFailureOf,
  deliveriesPerPiece,
  eventsAfter,
  piecesPerRun,
  setbacksToOne,
  troubledPauseMs,
  type ReplayDependencies,
} from './pieces.js';
import {
  endWithWebhook,
  finishSettled,
  passOver,
  postponeReplay,
  saveProgress,
  takeReplay,
  whatReplaysNeed,
  type ReplayInHand,
} from './store.js';

/** What replays of one webhook may have in the outbox together: the rest of what it missed stays in its events. */
const maxOwed = 6_000;
const finishedAtOnce = 200;

/**
 * Advances replays piece by piece, as fast as the receiver takes them: a webhook gets no more while its replays owe it
 * enough. A piece and its progress are one commit, so after any stop a replay continues where it was. Also ends replays
 * whose deliveries are all settled, takes back those that were cancelled, and makes rows of parked events. Returns
 * whether there is more to do soon.
 */
export async function advanceReplays(deps: ReplayDependencies): Promise<boolean> {
  const { ripe, withdrawing } = await whatReplaysNeed(deps.db);
  const left = withdrawing && (await withdrawCancelled(deps));
  const unparking = await unpark(deps);
  if (!ripe) return left || unparking;
  const walked = await walkOn(deps);
  await finishSettled(deps.db, { pauseMs: deps.replayEveryMs, limit: finishedAtOnce });
  return walked || left || unparking;
}

/** Makes the next pieces of those that look for deliveries still. Returns whether there are any. */
async function walkOn(deps: ReplayDependencies): Promise<boolean> {
  let any = false;
  for (let piece = 0; piece < piecesPerRun; piece += 1) {
    let replay: ReplayInHand | null = null;
    try {
      const made = await deps.db.transaction(async (tx) => {
        replay = await takeReplay(tx);
        return replay && advance(deps, tx, replay);
      });
      if (!replay || !made) break;
      any = true;
      const { webhookId } = replay as ReplayInHand;
      if (made.turns.length > 0) await giveTurns(deps.db, made.turns, deps.orderHoldMs);
      if (made.anythingSent) deps.notify(dueSinceUnknown([webhookId]));
    } catch (error) {
      await postpone(deps, replay, error);
    }
  }
  return any;
}

/**
 * A failure of one replay must not keep the others waiting behind it. If the piece itself is to blame, the next one is
 * half as large, and an event that fails by itself is left out in the end.
 */
async function postpone(
  deps: ReplayDependencies,
  replay: ReplayInHand | null,
  error: unknown,
): Promise<void> {
  if (!replay) throw error;
  const { db, logger, retentionMs } = deps;
  const { replayId, setbacks } = replay;
  const next = afterFailureOf(error, setbacks);
  if (next === 'skip') {
    const options = { setbacks: setbacksToOne, pauseMs: troubledPauseMs, retentionMs };
    const eventId = await passOver(db, replay, options);
    logger.error({ replayId, eventId, error: describeError(error) }, 'replay leaves out an event');
  } else {
    logger.warn({ replayId, setbacks, error: describeError(error) }, 'replay goes on later');
    await postponeReplay(db, replayId, troubledPauseMs, next === 'smaller' ? 1 : 0);
  }
}

type Made = Pick<ReplayPiece, 'turns' | 'anythingSent'>;
const nothing: Made = { turns: [], anythingSent: false };

async function advance(deps: ReplayDependencies, tx: Database, replay: ReplayInHand): Promise<Made> {
  if (replay.webhookDeleted) {
    await endWithWebhook(tx, replay.replayId);
    return nothing;
  }
  await lockMoves(tx, [replay.webhookId]);
  if ((await countOwed(tx, replay, maxOwed)) > maxOwed - deliveriesPerPiece) {
    await postponeReplay(tx, replay.replayId, deps.replayEveryMs * (replay.callable ? 1 / 2 : 4));
    return nothing;
  }
  return sendPiece(deps, tx, replay);
}

/** To be called with the lock on the webhook's moves. */
async function sendPiece(deps: ReplayDependencies, tx: Database, replay: ReplayInHand): Promise<Made> {
  // LOG_RETENTION may have been raised since: the log kept none of those days.
  if (replay.done === 0)
    await makePartitionsSince(deps.db, new Date(timeOfId(replay.lastEventId)), deps.retentionMs);
  const { lastEventId, sent, turns, anythingSent } = await replayPiece(tx, replay, {
    scanLimit: eventsAfter(replay.setbacks),
    sendLimit: deliveriesPerPiece,
    retentionMs: deps.retentionMs,
  });
  const distinct = distinctTurns(turns);
  if (distinct.length > 0) await holdTurns(tx, distinct, deps.orderHoldMs);
  const walked = lastEventId === null;
  await saveProgress(tx, replay.replayId, { lastEventId, sent, walked });
  deps.logger.info({ replayId: replay.replayId, webhookId: replay.webhookId, sent, walked }, 'replay');
  return { turns: distinct, anythingSent };
}
