import { describeError } from '../../platform/errors.js';
import { pauseAfter } from '../../platform/tasks.js';
import type { Logger } from '../../platform/telemetry/logger.js';
import type { Database } from '../../platform/database/postgres.js';
import { distinctTurns, lockMoves, makeTurnsWait } from '../../engine/engine.js';
import {
  countBehind,
  isOwedEnough,
  nextBehind,
  parkPage,
  unparkPiece,
  type ParkedPiece,
} from './parked-store.js';
import { makePartitionsFor } from '../../history/retention/retention.js';
import type { Durations } from '../../platform/durations.js';
import { notifyAndRelease } from './cancel-replay.js';
import {
  nextPieceAfter,
  deliveriesPerPiece,
  pieceSizeAfter,
  eventsPerPiece,
  piecesPerRun,
  retryPauseMs,
  type ReplayDependencies,
} from './piece-store.js';
import {
  endUnparked,
  endWithDeletedWebhook,
  findUnparkable,
  postponeReplay,
  saveUnparked,
  takeParked,
  type TakenParking,
  type ParkedWebhook,
} from './store.js';

const webhooksPerPage = 200;
/** The share of time spent parking. A webhook may be owed 10,000 more in half a second, so pauses are short. */
const shareOfTime = 1 / 10;

const maxDue = 6_000;
const maxOwed = 20_000;
/** How many events the last piece may have: recording for this shipper waits meanwhile. */
const maxLastEvents = 500;
const webhooksPerRun = 20;

/** The function resolves with the milliseconds until it should run again. */
export function createParking(
  { db, logger }: { db: Database; logger: Logger },
  { parkedAfter, replayEveryMs, sweepEveryMs }: { parkedAfter: number } & Durations,
): () => Promise<number> {
  let after: string | null = null;
  return async () => {
    const startedAt = performance.now();
    const { next, parked } = await parkPage(db, after, { limit: webhooksPerPage, parkedAfter });
    after = next;
    for (const webhookId of parked) logger.info({ webhookId }, 'webhook parked');
    const minPauseMs = next === null ? replayEveryMs : 0;
    return pauseAfter(performance.now() - startedAt, minPauseMs, sweepEveryMs, shareOfTime);
  };
}

/** Sends to parked webhooks as fast as their receivers accept. Returns whether there is more to do soon. */
export async function unparkWebhooks(deps: ReplayDependencies): Promise<boolean> {
  const parkedWebhooks = await findUnparkable(deps.db, webhooksPerRun);
  for (const parked of parkedWebhooks) {
    let setbacks = 0;
    try {
      for (let piece = 0, next: Next = 'piece'; next !== 'pause' && piece < piecesPerRun; piece += 1) {
        const step: typeof makePiece = next === 'last' ? makeLastPiece : makePiece;
        const made: Made = await deps.db.transaction(async (tx) => {
          await lockMoves(tx, [parked.webhookId]);
          const replay = await takeParked(tx, parked, next === 'last' ? 'update' : 'no key update');
          setbacks = replay?.setbacks ?? 0;
          return replay ? step(deps, tx, replay) : pause;
        });
        if (made.webhookId !== null && made.shipmentIds.length > 0)
          await notifyAndRelease(deps, { ...made, webhookId: made.webhookId, anythingDue: true });
        next = made.next;
      }
    } catch (error) {
      await postpone(deps, parked, setbacks, error).catch((reason: unknown) =>
        deps.logger.warn(
          { ...parked, error: describeError(reason) },
          'parked webhook not postponed; retrying at once',
        ),
      );
    }
  }
  return parkedWebhooks.length > 0;
}

type Next = 'piece' | 'last' | 'pause';
interface Made {
  next: Next;
  webhookId: string | null;
  shipmentIds: string[];
}
const pause: Made = { next: 'pause', webhookId: null, shipmentIds: [] };

/** Pieces end at the feed's horizon: no event can appear before it later. */
async function makePiece(deps: ReplayDependencies, tx: Database, replay: TakenParking): Promise<Made> {
  const { replayId, webhookId } = replay;
  if (replay.webhookDeleted) {
    await endWithDeletedWebhook(tx, replayId);
    return pause;
  }
  // A probe needs one delivery.
  const due = replay.callable ? maxDue - deliveriesPerPiece + 1 : 1;
  if (await isOwedEnough(tx, webhookId, { due, owed: maxOwed })) {
    await postponeReplay(tx, replayId, replay.callable ? deps.replayEveryMs / 2 : retryPauseMs);
    return pause;
  }
  if (replay.done === 0) {
    const walk = { shipperId: replay.shipperId, shipmentId: null, since: replay.createdAt };
    await makePartitionsFor(deps.db, walk, deps.retentionMs);
  }
  const horizon = await deps.horizon(tx);
  const piece = await make(deps, tx, replay, { horizon, scanLimit: pieceSizeAfter(replay.setbacks) });
  await saveUnparked(tx, replayId, piece);
  return { next: piece.isEnd ? 'last' : 'piece', webhookId, shipmentIds: piece.shipmentIds };
}

/**
 * `replay` is locked: a transaction that read it has committed, and one that waits for it finds it ended. If too many
 * events are left, they go into another piece first, so that waits stay short.
 */
async function makeLastPiece(deps: ReplayDependencies, tx: Database, replay: TakenParking): Promise<Made> {
  const { replayId, webhookId, shipperId, place } = replay;
  if (!replay.callable || (await countBehind(tx, shipperId, place, maxLastEvents + 1)) > maxLastEvents) {
    await postponeReplay(tx, replayId, replay.callable ? deps.replayEveryMs / 2 : retryPauseMs);
    return pause;
  }
  const piece = await make(deps, tx, replay, { horizon: null, scanLimit: eventsPerPiece });
  if (!piece.isEnd) throw new Error('the last piece has more events than were counted');
  await saveUnparked(tx, replayId, piece);
  await endUnparked(tx, replayId);
  deps.logger.info({ webhookId }, 'webhook no longer parked');
  return { next: 'pause', webhookId, shipmentIds: piece.shipmentIds };
}

async function make(
  deps: ReplayDependencies,
  tx: Database,
  replay: TakenParking,
  span: { horizon: bigint | null; scanLimit: number },
): Promise<ParkedPiece> {
  const piece = await unparkPiece(tx, replay, {
    ...span,
    sendLimit: deliveriesPerPiece,
    retentionMs: deps.retentionMs,
    terminalStates: deps.terminalStates,
  });
  const { webhookId } = replay;
  const turns = distinctTurns(piece.shipmentIds.map((shipmentId) => ({ webhookId, shipmentId })));
  if (turns.length > 0) await makeTurnsWait(tx, turns, deps.orderHoldMs);
  if (piece.expired > 0)
    deps.logger.warn(
      { webhookId, deliveries: piece.expired },
      'missed deliveries not sent: they are older than the log retention',
    );
  return piece;
}

/** If the piece itself is at fault, the next one is half as large; an event that keeps failing alone is skipped. */
async function postpone(
  deps: ReplayDependencies,
  parked: ParkedWebhook,
  setbacks: number,
  error: unknown,
): Promise<void> {
  const { db, logger } = deps;
  const { replayId } = parked;
  const next = nextPieceAfter(error, setbacks);
  if (next !== 'skip') {
    logger.warn(
      { replayId, setbacks, error: describeError(error) },
      'no deliveries made for a parked webhook; retrying later',
    );
    await postponeReplay(db, replayId, retryPauseMs, next === 'smaller' ? 1 : 0);
    return;
  }
  await db.transaction(async (tx) => {
    await lockMoves(tx, [parked.webhookId]);
    const replay = await takeParked(tx, parked, 'no key update');
    if (!replay) return;
    const horizon = await deps.horizon(tx);
    const reached = await nextBehind(tx, replay.shipperId, replay.place, horizon);
    await saveUnparked(tx, replayId, { reached, shipmentIds: [] });
    logger.error(
      { replayId, eventId: reached?.eventId ?? null, error: describeError(error) },
      'event failed repeatedly; the parked webhook skips it',
    );
  });
}
