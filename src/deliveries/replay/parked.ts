import { describeError } from '../../platform/errors.js';
import { pauseAfter } from '../../platform/every.js';
import type { Logger } from '../../platform/logger.js';
import { isOfThePiece, type Database } from '../../platform/database/postgres.js';
import { lockMoves } from '../outbox/moves.js';
import {
  countBehind,
  countDue,
  nextBehind,
  parkPage,
  unparkPiece,
  type ParkedPiece,
} from '../outbox/parked.js';
import { distinctTurns, holdTurns } from '../outbox/turns.js';
import { makePartitionsSince } from '../retention/partitions.js';
import type { Times } from '../times.js';
import { seeToTheRest, type WithdrawDependencies } from './cancel.js';
import {
  endUnparked,
  endWithWebhook,
  findUnparking,
  postponeReplay,
  saveUnparked,
  takeParked,
  type ParkedInHand,
} from './store.js';

const webhooksPerPage = 200;
/** Of the time: a webhook may be owed 10,000 more within half a second, so looks follow each other soon. */
const shareOfPages = 1 / 10;

/** What is due to a webhook before it is given more of what it missed. */
const maxDue = 6_000;
const deliveriesPerPiece = 1_000;
const eventsPerPiece = 5_000;
/** Of the last events behind a place, which are made rows while whoever records waits. */
const eventsOfEnd = 500;
const piecesPerRun = 20;
const webhooksPerRun = 20;
const troubledPauseMs = 2_000;
/** An event that fails so often by itself is left out. */
const triesOfOne = 3;
const setbacksToOne = Math.ceil(Math.log2(eventsPerPiece));

export interface ReplayDependencies extends WithdrawDependencies {
  retentionMs: number;
  /** How often a webhook is given more; one that is not called is looked at a quarter as often. */
  replayEveryMs: number;
  /** Never superseded. */
  terminalStates: string[];
  /** The position before which all events are there, for later statements of the transaction. */
  horizon(tx: Database): Promise<bigint>;
}

/**
 * Parks webhooks that are not called and are owed so much already, page by page; to be run again and again. Resolves
 * with the milliseconds until its next turn.
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
 * Gives parked webhooks that are called again what they missed, as fast as they take it, and ends that where nothing is
 * left. Returns whether there is more to do soon.
 */
export async function unpark(deps: ReplayDependencies): Promise<boolean> {
  const replayIds = await findUnparking(deps.db, webhooksPerRun);
  for (const replayId of replayIds) {
    let setbacks = 0;
    try {
      for (let piece = 0, next: Next = 'piece'; next !== 'rest' && piece < piecesPerRun; piece += 1) {
        const step: typeof makePiece = next === 'end' ? makeEnd : makePiece;
        const made: Made = await deps.db.transaction(async (tx) => {
          const replay = await takeParked(tx, replayId, next === 'end' ? 'update' : 'no key update');
          setbacks = replay?.setbacks ?? 0;
          return replay ? step(deps, tx, replay) : rest;
        });
        if (made.webhookId !== null && made.shipmentIds.length > 0)
          await seeToTheRest(deps, { ...made, webhookId: made.webhookId, anythingDue: true });
        next = made.next;
      }
    } catch (error) {
      await postpone(deps, { replayId, setbacks }, error);
    }
  }
  return replayIds.length > 0;
}

/** What to do next for a webhook: another piece, the end, or nothing for now. */
type Next = 'piece' | 'end' | 'rest';
interface Made {
  next: Next;
  webhookId: string | null;
  /** Of what was made. */
  shipmentIds: string[];
}
const rest: Made = { next: 'rest', webhookId: null, shipmentIds: [] };

/** The next events before the horizon of the feed: no event appears behind a place that was passed. */
async function makePiece(deps: ReplayDependencies, tx: Database, replay: ParkedInHand): Promise<Made> {
  const { replayId, webhookId } = replay;
  if (replay.webhookDeleted) {
    await endWithWebhook(tx, replayId);
    return rest;
  }
  await lockMoves(tx, [webhookId]);
  // A circuit that is to be probed needs one row at least.
  const enough = replay.callable ? maxDue - deliveriesPerPiece : 0;
  if ((await countDue(tx, webhookId, enough + 1)) > enough) {
    await postponeReplay(tx, replayId, replay.callable ? deps.replayEveryMs / 2 : troubledPauseMs);
    return rest;
  }
  if (replay.done === 0) await makePartitionsSince(deps.db, replay.createdAt, deps.retentionMs);
  const horizon = await deps.horizon(tx);
  const limit = eventsPerPiece / 2 ** replay.setbacks;
  const piece = await make(deps, tx, replay, { horizon, limit });
  await saveUnparked(tx, replayId, piece);
  return { next: piece.isEnd ? 'end' : 'piece', webhookId, shipmentIds: piece.shipmentIds };
}

/**
 * The last events, and the end. `replay` is locked, so whoever sees it has recorded before, or finds when this is over
 * that it is gone. Where too many are left, they are the next piece's: nobody is to wait for long.
 */
async function makeEnd(deps: ReplayDependencies, tx: Database, replay: ParkedInHand): Promise<Made> {
  const { replayId, webhookId, shipperId, place } = replay;
  await lockMoves(tx, [webhookId]);
  if (!replay.callable || (await countBehind(tx, shipperId, place, eventsOfEnd + 1)) > eventsOfEnd)
    return { ...rest, next: replay.callable ? 'piece' : 'rest' };
  const piece = await make(deps, tx, replay, { horizon: null, limit: eventsPerPiece });
  if (!piece.isEnd) throw new Error('the end has moved on');
  await saveUnparked(tx, replayId, piece);
  await endUnparked(tx, replayId);
  deps.logger.info({ webhookId }, 'parked no more');
  return { next: 'rest', webhookId, shipmentIds: piece.shipmentIds };
}

async function make(
  deps: ReplayDependencies,
  tx: Database,
  replay: ParkedInHand,
  { horizon, limit }: { horizon: bigint | null; limit: number },
): Promise<ParkedPiece> {
  const piece = await unparkPiece(tx, replay, {
    horizon,
    scanLimit: Math.max(1, Math.floor(limit)),
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
      'missed for longer than the log is kept: not sent',
    );
  return piece;
}

/** If the piece itself is to blame, the next one is half as large, and an event that fails by itself is left out. */
async function postpone(
  deps: ReplayDependencies,
  { replayId, setbacks }: { replayId: string; setbacks: number },
  error: unknown,
): Promise<void> {
  const { db, logger } = deps;
  const isToBlame = isOfThePiece(error);
  if (!isToBlame || setbacks + 1 < setbacksToOne + triesOfOne) {
    logger.warn({ replayId, setbacks, error: describeError(error) }, 'what was parked goes on later');
    await postponeReplay(db, replayId, troubledPauseMs, isToBlame ? 1 : 0);
    return;
  }
  await db.transaction(async (tx) => {
    const replay = await takeParked(tx, replayId, 'no key update');
    if (!replay) return;
    const horizon = await deps.horizon(tx);
    const reached = await nextBehind(tx, replay.shipperId, replay.place, horizon);
    await saveUnparked(tx, replayId, { reached, shipmentIds: [] });
    const { eventId } = reached ?? { eventId: null };
    logger.error({ replayId, eventId, error: describeError(error) }, 'what was parked leaves out an event');
  });
}
