import { describeError } from '../../platform/errors.js';
import { timeOfId } from '../../platform/ids.js';
import type { Database } from '../../platform/database/postgres.js';
import { makePartitionsFor } from '../../history/retention/retention.js';
import {
  distinctTurns,
  dueSinceUnknown,
  lockMoves,
  makeTurnsWait,
  releaseTurns,
} from '../../engine/engine.js';
import {
  countOwed,
  replayPiece,
  type ReplayPiece,
  nextPieceAfter,
  deliveriesPerPiece,
  pieceSizeAfter,
  piecesPerRun,
  setbacksToSingleEvent,
  retryPauseMs,
  type ReplayDependencies,
} from './piece-store.js';
import { withdrawCancelled } from './cancel-replay.js';
import { unparkWebhooks } from './parked.js';
import {
  endWithDeletedWebhook,
  finishSettledReplays,
  skipEvent,
  postponeReplay,
  saveProgress,
  takeReplay,
  findReplayWork,
  type TakenReplay,
} from './store.js';

/** At most so many deliveries of all replays of one webhook are in the outbox. */
const maxOwed = 6_000;
const finishedPerRun = 200;

/**
 * A webhook gets no more while its replays have enough in the outbox. A piece and its progress are one commit, so a
 * replay continues where it stopped. Returns whether there is more to do soon.
 */
export async function advanceReplays(deps: ReplayDependencies): Promise<boolean> {
  const { due, withdrawing } = await findReplayWork(deps.db);
  const withdrawn = withdrawing && (await withdrawCancelled(deps));
  const unparked = await unparkWebhooks(deps);
  if (!due) return withdrawn || unparked;
  const made = await makePieces(deps);
  await finishSettledReplays(deps.db, { pauseMs: deps.replayEveryMs, limit: finishedPerRun });
  return made || withdrawn || unparked;
}

async function makePieces(deps: ReplayDependencies): Promise<boolean> {
  let any = false;
  for (let piece = 0; piece < piecesPerRun; piece += 1) {
    let replay: TakenReplay | null = null;
    try {
      const made = await deps.db.transaction(async (tx) => {
        replay = await takeReplay(tx);
        return replay && advance(deps, tx, replay);
      });
      if (!replay || !made) break;
      any = true;
      const { webhookId } = replay as TakenReplay;
      if (made.turns.length > 0) await releaseTurns(deps.db, made.turns, deps.orderHoldMs);
      if (made.anythingSent) deps.notify(dueSinceUnknown([webhookId]));
    } catch (error) {
      await postpone(deps, replay, error);
    }
  }
  return any;
}

/**
 * Other replays must not wait behind this one. A piece at fault is halved; an event that keeps failing alone is
 * skipped.
 */
async function postpone(deps: ReplayDependencies, replay: TakenReplay | null, error: unknown): Promise<void> {
  if (!replay) throw error;
  const { db, logger, retentionMs } = deps;
  const { replayId, setbacks } = replay;
  const next = nextPieceAfter(error, setbacks);
  if (next === 'skip') {
    const options = { setbacks: setbacksToSingleEvent, pauseMs: retryPauseMs, retentionMs };
    const eventId = await skipEvent(db, replay, options);
    logger.error(
      { replayId, eventId, error: describeError(error) },
      'event failed repeatedly; the replay skips it',
    );
  } else {
    logger.warn({ replayId, setbacks, error: describeError(error) }, 'replay failed; retrying later');
    await postponeReplay(db, replayId, retryPauseMs, next === 'smaller' ? 1 : 0);
  }
}

type Made = Pick<ReplayPiece, 'turns' | 'anythingSent'>;
const nothing: Made = { turns: [], anythingSent: false };

async function advance(deps: ReplayDependencies, tx: Database, replay: TakenReplay): Promise<Made> {
  if (replay.webhookDeleted) {
    await endWithDeletedWebhook(tx, replay.replayId);
    return nothing;
  }
  await lockMoves(tx, [replay.webhookId]);
  if ((await countOwed(tx, replay, maxOwed)) > maxOwed - deliveriesPerPiece) {
    await postponeReplay(tx, replay.replayId, deps.replayEveryMs * (replay.callable ? 1 / 2 : 4));
    return nothing;
  }
  return sendPiece(deps, tx, replay);
}

/** Call it with the lock on the webhook's moves. */
async function sendPiece(deps: ReplayDependencies, tx: Database, replay: TakenReplay): Promise<Made> {
  if (replay.done === 0) {
    const since = new Date(timeOfId(replay.lastEventId));
    await makePartitionsFor(deps.db, { ...replay, since }, deps.retentionMs);
  }
  const { lastEventId, sent, turns, anythingSent } = await replayPiece(tx, replay, {
    scanLimit: pieceSizeAfter(replay.setbacks),
    sendLimit: deliveriesPerPiece,
    retentionMs: deps.retentionMs,
  });
  const distinct = distinctTurns(turns);
  if (distinct.length > 0) await makeTurnsWait(tx, distinct, deps.orderHoldMs);
  const walked = lastEventId === null;
  await saveProgress(tx, replay.replayId, { lastEventId, sent, walked });
  deps.logger.info(
    { replayId: replay.replayId, webhookId: replay.webhookId, sent, walked },
    'replay advanced',
  );
  return { turns: distinct, anythingSent };
}
