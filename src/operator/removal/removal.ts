import type { Logger } from '../../platform/logger.js';
import type { Metrics } from '../../platform/metrics.js';
import { describeError } from '../../platform/errors.js';
import { isOfThePiece, type Database } from '../../platform/database/postgres.js';
import { afterFailure, afterPage } from '../../platform/walk.js';
import * as store from './store.js';

export interface RemovalDependencies {
  db: Database;
  logger: Logger;
  metrics: Pick<Metrics, 'removalRows'>;
  /** How long nothing of a shipper may turn up before the last of it goes. */
  quietMs: number;
}

interface Step {
  rows: string;
  /** What its pages consist of. */
  page: store.PageRows;
  deletePiece: store.DeletePiece;
  /** Where its keys begin. */
  first: string;
}

const firstId = '00000000-0000-0000-0000-000000000000';
const step = (
  rows: string,
  key: string,
  deletePiece: store.DeletePiece,
  { first = firstId, table = rows, isShared = false } = {},
): Step => ({ rows, page: { table, key, isShared }, deletePiece, first });

/** What still may come in while a shipper is removed, in an order in which nothing is left that leads to what is gone. */
const dataSteps: Step[] = [
  step('webhooks', 'webhook_id', store.stopWebhooks),
  step('outbox', 'delivery_id', store.deleteOwed),
  step('deliveries', 'delivery_id', store.deleteLogged),
  step('simulations', 'shipment_id', store.deleteSimulations),
  step('orders_to_create', 'shipment_id', store.deleteWaitingOrders, { isShared: true }),
  step('attempt_counts', 'webhook_id', store.deleteCounts, { table: 'webhooks' }),
  step('events', 'event_id', store.deleteEvents),
  step('idempotency_keys', 'key', store.deleteKeys, { first: '' }),
];
/** What that refers to. */
const lastSteps: Step[] = [
  step('webhooks', 'webhook_id', store.deleteWebhooks),
  step('users', 'email', store.deleteUsers, { first: '' }),
];

const rowsPerPiece = 500;
const progressEveryMs = 30_000;
const shortestPauseMs = 50;
/** As many times as long as a piece took. */
const pauseFactor = 4;

/** How far this process is with a shipper; without it, after a restart, it begins anew and finds what is left. */
interface Walk {
  shipperId: string;
  index: number;
  after: string;
  /** In this walk over everything. */
  found: number;
  /** Rows that failed by themselves: it is not empty, and comes again after `quietMs`. */
  steppedOver: number;
  /** In all walks of this process. */
  deleted: number;
  toldAt: number;
}

interface Piece {
  steps: Step[];
  at: Walk;
}

const start = { index: 0, after: firstId, found: 0, steppedOver: 0 };

/**
 * Deletes removed shippers with all that is theirs, a piece a turn, by one worker at a time. A shipper is walked over
 * until nothing is found; once more after `quietMs`, for what was under way when it was removed; then its row goes.
 * Returns the turn, which resolves with the milliseconds until the next one while there may be more to do: most of the
 * time is left to others.
 */
export function createRemoval(deps: RemovalDependencies): () => Promise<number | undefined> {
  const { db, logger, metrics } = deps;
  let walk: Walk | null = null;
  let pieceRows = rowsPerPiece;
  /** The piece that is being deleted. */
  let underWay: Piece | null = null;

  const walkOf = (shipperId: string): Walk => {
    if (walk?.shipperId === shipperId) return walk;
    logger.info({ shipperId }, 'removing a shipper');
    return { ...start, shipperId, deleted: 0, toldAt: performance.now() };
  };

  /** One piece of the first step that has any, where the walk is then; null at the end. */
  const advance = async (tx: Database, steps: Step[], at: Walk): Promise<Walk | null> => {
    let { index, after } = at;
    for (; index < steps.length; index += 1, after = steps[index]?.first ?? '') {
      const { rows, deletePiece } = steps[index]!;
      underWay = { steps, at: { ...at, index, after } };
      const { deleted, next } = await deletePiece(tx, at.shipperId, after, pieceRows);
      if (deleted === 0 && next === null) continue;
      metrics.removalRows.inc({ rows }, deleted);
      return {
        ...at,
        ...behind(steps, index, next),
        found: at.found + deleted,
        deleted: at.deleted + deleted,
      };
    }
    return null;
  };

  /** The last of a shipper of which nothing has turned up for long. */
  const finish = async (tx: Database, at: Walk): Promise<Walk | null> => {
    const left = await advance(tx, lastSteps, { ...at, ...start, after: lastSteps[0]!.first });
    if (left) return { ...left, ...start };
    await store.deleteShipper(tx, at.shipperId);
    logger.info({ shipperId: at.shipperId, rows: at.deleted }, 'a shipper is removed');
    return null;
  };

  /** How far the walk is then; undefined where there is nothing to do. */
  const turn = async (tx: Database): Promise<Walk | null | undefined> => {
    if (!(await store.lockRemovals(tx))) return undefined;
    const removed = await store.takeRemoved(tx, deps.quietMs);
    if (!removed) return undefined;
    const at = walkOf(removed.shipperId);
    walk = at;
    const next = await advance(tx, dataSteps, at);
    if (next) {
      if (removed.isQuiet && next.found > 0) await store.markEmptied(tx, at.shipperId, false);
      return next;
    }
    if (at.found > 0 && at.steppedOver === 0) return { ...at, ...start };
    if (removed.isQuiet && at.steppedOver === 0) return finish(tx, at);
    await store.markEmptied(tx, at.shipperId, true);
    return { ...at, ...start };
  };

  /** Makes the next piece smaller; behind a row that failed by itself, the walk goes on. */
  const stepBack = async ({ steps, at }: Piece, error: unknown): Promise<void> => {
    const { page, rows, first: firstKey } = steps[at.index]!;
    if (pieceRows > 1)
      return void (pieceRows = afterFailure({ after: null, size: pieceRows }, null).place.size);
    const next = await store.findNext(db, page, at.shipperId, at.after);
    logger.error(
      { shipperId: at.shipperId, rows, id: firstKey === firstId ? next : null, error: describeError(error) },
      'a row of a removed shipper was not deleted; it comes again later',
    );
    if (steps === dataSteps)
      walk = { ...at, ...behind(steps, at.index, next), steppedOver: at.steppedOver + 1 };
    else await store.markEmptied(db, at.shipperId, true); // meanwhile it is another one's turn
  };

  const tell = () => {
    if (!walk || performance.now() - walk.toldAt < progressEveryMs) return;
    walk.toldAt = performance.now();
    const { shipperId, deleted, index } = walk;
    logger.info({ shipperId, rows: deleted, at: dataSteps[index]?.rows }, 'removing a shipper');
  };

  return async () => {
    const startedAt = performance.now();
    underWay = null;
    try {
      if (!(await store.isAnyRemoved(db))) return undefined;
      const next = await db.transaction(turn);
      if (next === undefined) return undefined;
      walk = next;
      tell();
      pieceRows = afterPage({ after: null, size: pieceRows }, null, rowsPerPiece).size;
    } catch (error) {
      if (isOfThePiece(error) && underWay) await stepBack(underWay, error);
      throw error;
    }
    return Math.max(shortestPauseMs, pauseFactor * (performance.now() - startedAt));
  };
}

const behind = (steps: Step[], index: number, next: string | null) =>
  next === null ? { index: index + 1, after: steps[index + 1]?.first ?? '' } : { index, after: next };
