import { describeError } from '../../platform/errors.js';
import { pauseAfter } from '../../platform/every.js';
import type { Logger } from '../../platform/logger.js';
import type { Database } from '../../platform/database/postgres.js';
import { lockMoves } from '../outbox/moves.js';
import {
  countBehind,
  isOwedEnough,
  nextBehind,
  parkPage,
  unparkPiece,
  type ParkedPiece,
} from '../outbox/parked.js';
import { distinctTurns, holdTurns } from '../outbox/turns.js';
import { makePartitionsSince } from '../retention/partitions.js';
import type { Times } from '../times.js';
import { seeToTheRest } from './cancel.js';
import {
  afterFailureOf,
  deliveriesPerPiece,
  eventsAfter,
  eventsPerPiece,
  piecesPerRun,
  troubledPauseMs,
  type ReplayDependencies,
} from './pieces.js';
import {
  endUnparked,
  endWithWebhook,
  findUnparking,
  postponeReplay,
  saveUnparked,
  takeParked,
  type ParkedInHand,
  type Unparking,
} from './store.js';

const webhooksPerPage = 200;
/** The share of time spent on these pages: a webhook may be owed 10,000 more in half a second, so pauses are short. */
const shareOfPages = 1 / 10;

/** A webhook that catches up has at most about this many rows due. */
const maxDue = 6_000;
/** The same for what waits for a retry or its turn, too. */
const maxOwed = 20_000;
/** How many of the last events may become rows while recording for this shipper has to wait. */
const eventsOfEnd = 500;
const webhooksPerRun = 20;

/**
 * Returns a function that looks at the next page of webhooks that are not called, and parks those that are owed
 * `parkedAfter` rows. It resolves with the milliseconds until it should run again.
 */
export function createParking(
  { db, logger }: { db: Database; logger: Logger },
  { parkedAfter, replayEveryMs, sweepEveryMs }: { parkedAfter: number } & Times,
): () => Promise<number> {
  let after: string | null = null;
  return async () => {
    const startedAt = performance.now();
    const { next, parked } = await parkPage(db, after, { limit: webhooksPerPage, parkedAfter });
    after = next;
    for (const webhookId of parked) logger.info({ webhookId }, 'parked');
    const leastMs = next === null ? replayEveryMs : 0;
    return pauseAfter(performance.now() - startedAt, leastMs, sweepEveryMs, shareOfPages);
  };
}

/**
 * Makes rows of what parked webhooks missed, once they are called again, as fast as they take them. Ends the parking
 * where nothing is left. Returns whether there is more to do soon.
 */
export async function unpark(deps: ReplayDependencies): Promise<boolean> {
  const unparking = await findUnparking(deps.db, webhooksPerRun);
  for (const parked of unparking) {
    let setbacks = 0;
    try {
      for (let piece = 0, next: Next = 'piece'; next !== 'rest' && piece < piecesPerRun; piece += 1) {
        const step: typeof makePiece = next === 'end' ? makeEnd : makePiece;
        const made: Made = await deps.db.transaction(async (tx) => {
          await lockMoves(tx, [parked.webhookId]);
          const replay = await takeParked(tx, parked, next === 'end' ? 'update' : 'no key update');
          setbacks = replay?.setbacks ?? 0;
          return replay ? step(deps, tx, replay) : rest;
        });
        if (made.webhookId !== null && made.shipmentIds.length > 0)
          await seeToTheRest(deps, { ...made, webhookId: made.webhookId, anythingDue: true });
        next = made.next;
      }
    } catch (error) {
      await postpone(deps, parked, setbacks, error).catch((reason: unknown) =>
        deps.logger.warn({ ...parked, error: describeError(reason) }, 'not postponed'),
      );
    }
  }
  return unparking.length > 0;
}

/** The next step for a webhook: another piece, the end, or nothing for now. */
type Next = 'piece' | 'end' | 'rest';
interface Made {
  next: Next;
  webhookId: string | null;
  /** The shipments of the rows made. */
  shipmentIds: string[];
}
const rest: Made = { next: 'rest', webhookId: null, shipmentIds: [] };

/** Makes the next rows, up to the feed's horizon: so no event can appear before a position that was passed. */
async function makePiece(deps: ReplayDependencies, tx: Database, replay: ParkedInHand): Promise<Made> {
  const { replayId, webhookId } = replay;
  if (replay.webhookDeleted) {
    await endWithWebhook(tx, replayId);
    return rest;
  }
  // A circuit needs at least one row to be probed with.
  const due = replay.callable ? maxDue - deliveriesPerPiece + 1 : 1;
  if (await isOwedEnough(tx, webhookId, { due, owed: maxOwed })) {
    await postponeReplay(tx, replayId, replay.callable ? deps.replayEveryMs / 2 : troubledPauseMs);
    return rest;
  }
  if (replay.done === 0) await makePartitionsSince(deps.db, replay.createdAt, deps.retentionMs);
  const horizon = await deps.horizon(tx);
  const piece = await make(deps, tx, replay, { horizon, scanLimit: eventsAfter(replay.setbacks) });
  await saveUnparked(tx, replayId, piece);
  return { next: piece.isEnd ? 'end' : 'piece', webhookId, shipmentIds: piece.shipmentIds };
}

/**
 * Makes the last rows and ends the parking. `replay` is locked: a transaction that saw it has committed before, and one
 * that waits for it finds it ended. If too many events are left, they go into another piece first, so nobody waits
 * long.
 */
async function makeEnd(deps: ReplayDependencies, tx: Database, replay: ParkedInHand): Promise<Made> {
  const { replayId, webhookId, shipperId, place } = replay;
  if (!replay.callable || (await countBehind(tx, shipperId, place, eventsOfEnd + 1)) > eventsOfEnd) {
    await postponeReplay(tx, replayId, replay.callable ? deps.replayEveryMs / 2 : troubledPauseMs);
    return rest;
  }
  const piece = await make(deps, tx, replay, { horizon: null, scanLimit: eventsPerPiece });
  if (!piece.isEnd) throw new Error('there are more events than were counted');
  await saveUnparked(tx, replayId, piece);
  await endUnparked(tx, replayId);
  deps.logger.info({ webhookId }, 'no longer parked');
  return { next: 'rest', webhookId, shipmentIds: piece.shipmentIds };
}

async function make(
  deps: ReplayDependencies,
  tx: Database,
  replay: ParkedInHand,
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
  if (turns.length > 0) await holdTurns(tx, turns, deps.orderHoldMs);
  if (piece.expired > 0)
    deps.logger.warn(
      { webhookId, deliveries: piece.expired },
      'not sent: missed for longer than the log is kept',
    );
  return piece;
}

/** If the piece itself is to blame, the next one is half as large; an event that fails by itself is skipped. */
async function postpone(
  deps: ReplayDependencies,
  parked: Unparking,
  setbacks: number,
  error: unknown,
): Promise<void> {
  const { db, logger } = deps;
  const { replayId } = parked;
  const next = afterFailureOf(error, setbacks);
  if (next !== 'skip') {
    logger.warn(
      { replayId, setbacks, error: describeError(error) },
      'no rows made of what a webhook missed; trying again later',
    );
    await postponeReplay(db, replayId, troubledPauseMs, next === 'smaller' ? 1 : 0);
    return;
  }
  await db.transaction(async (tx) => {
    await lockMoves(tx, [parked.webhookId]);
    const replay = await takeParked(tx, parked, 'no key update');
    if (!replay) return;
    const horizon = await deps.horizon(tx);
    const reached = await nextBehind(tx, replay.shipperId, replay.place, horizon);
    await saveUnparked(tx, replayId, { reached, shipmentIds: [] });
    const { eventId } = reached ?? { eventId: null };
    logger.error(
      { replayId, eventId, error: describeError(error) },
      'an event of a parked webhook is skipped',
    );
  });
}
