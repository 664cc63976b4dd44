import { isFaultOfPiece, type Database } from '../../platform/database/postgres.js';
import { describeError } from '../../platform/errors.js';
import type { Logger } from '../../platform/telemetry/logger.js';
import type { Metrics } from '../../platform/telemetry/metrics.js';
import { afterFailure, afterPage } from '../../platform/tasks.js';
import * as store from './store.js';
import { lowestId } from '../../platform/ids.js';

export interface RemovalDependencies {
  db: Database;
  logger: Logger;
  metrics: Pick<Metrics, 'removalRows'>;
  /** How long nothing of a shipper may be found before its row is deleted. */
  quietMs: number;
  owners: store.OwnersOfRows;
}

interface Step {
  rows: string;
  page: store.PageRows;
  deletePiece: store.DeletePiece;
  first: string;
}

const step = (
  rows: string,
  key: string,
  deletePiece: store.DeletePiece,
  { first = lowestId, table = rows, isShared = false } = {},
): Step => ({ rows, page: { table, key, isShared }, deletePiece, first });

/** Tables that may still get rows while a shipper is removed, in an order that leaves no dangling references. */
const dataStepsOf = (owners: store.OwnersOfRows): Step[] => [
  step('webhooks', 'webhook_id', store.stopWebhooks),
  step('outbox', 'delivery_id', store.deleteOwed(owners)),
  step('deliveries', 'delivery_id', store.deleteLogged),
  step('simulations', 'shipment_id', store.deleteSimulations),
  step('orders_to_create', 'shipment_id', store.deleteWaitingOrders, { isShared: true }),
  step('attempt_counts', 'webhook_id', store.deleteCounts(owners), { table: 'webhooks' }),
  step('events', 'event_id', store.deleteEvents(owners)),
  step('idempotency_keys', 'key', store.deleteKeys, { first: '' }),
];
/** The first steps' tables refer to these. */
const lastSteps: Step[] = [
  step('webhooks', 'webhook_id', store.deleteWebhooks),
  step('users', 'email', store.deleteUsers, { first: '' }),
];

const rowsPerPiece = 500;
const progressEveryMs = 30_000;
const shortestPauseMs = 50;
/** The pause is this many times as long as the piece before it. */
const pauseFactor = 4;

/** After a restart a new walk finds what is left. */
interface Walk {
  shipperId: string;
  index: number;
  after: string;
  found: number;
  /** How many rows could not be deleted: if any, the shipper is walked again after `quietMs`. */
  skipped: number;
  deleted: number;
  reportedAt: number;
}

interface Piece {
  steps: Step[];
  at: Walk;
}

const start = { index: 0, after: lowestId, found: 0, skipped: 0 };

/**
 * One piece per run, by one worker at a time. Walks a shipper's tables until nothing is found, and once more after
 * `quietMs` for what was being written at the removal; then deletes its row. Each run resolves with the milliseconds
 * until the next one while there may be more; the pauses leave most of the time to other work. Progress is only in the
 * rows themselves: after a restart the walk starts again. Locked rows are left to the next walk. No statement, lease or
 * request that was under way lasts as long as `quietMs`. A late result finds no row and is refused, and a late event
 * finds no shipment. No tombstone is needed: nothing refers to the shipper, and a token or key without one is refused.
 */
export function createRemoval(deps: RemovalDependencies): () => Promise<number | undefined> {
  const { db, logger, metrics } = deps;
  const dataSteps = dataStepsOf(deps.owners);
  let walk: Walk | null = null;
  let pieceRows = rowsPerPiece;
  let current: Piece | null = null;

  const walkOf = (shipperId: string): Walk => {
    if (walk?.shipperId === shipperId) return walk;
    logger.info({ shipperId }, 'removing a shipper');
    return { ...start, shipperId, deleted: 0, reportedAt: performance.now() };
  };

  /** Deletes a piece in the first step that has rows. Null at the end. */
  const advance = async (tx: Database, steps: Step[], at: Walk): Promise<Walk | null> => {
    let { index, after } = at;
    for (; index < steps.length; index += 1, after = steps[index]?.first ?? '') {
      const { rows, deletePiece } = steps[index]!;
      current = { steps, at: { ...at, index, after } };
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

  /** Call it when nothing of the shipper was found for `quietMs`. */
  const finish = async (tx: Database, at: Walk): Promise<Walk | null> => {
    const left = await advance(tx, lastSteps, { ...at, ...start, after: lastSteps[0]!.first });
    if (left) return { ...left, ...start };
    await store.deleteShipper(tx, at.shipperId);
    logger.info({ shipperId: at.shipperId, rows: at.deleted }, 'shipper removed');
    return null;
  };

  const deleteNext = async (tx: Database): Promise<Walk | null | undefined> => {
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
    if (at.found > 0 && at.skipped === 0) return { ...at, ...start };
    if (removed.isQuiet && at.skipped === 0) return finish(tx, at);
    await store.markEmptied(tx, at.shipperId, true);
    return { ...at, ...start };
  };

  /** Makes the next piece smaller, or skips a single row that failed. */
  const stepBack = async ({ steps, at }: Piece, error: unknown): Promise<void> => {
    const { page, rows, first: firstKey } = steps[at.index]!;
    if (pieceRows > 1)
      return void (pieceRows = afterFailure({ after: null, size: pieceRows }, null).place.size);
    const next = await store.findNext(db, page, at.shipperId, at.after);
    logger.error(
      { shipperId: at.shipperId, rows, id: firstKey === lowestId ? next : null, error: describeError(error) },
      'row of a removed shipper not deleted; retrying in a later walk',
    );
    if (steps === dataSteps) walk = { ...at, ...behind(steps, at.index, next), skipped: at.skipped + 1 };
    else await store.markEmptied(db, at.shipperId, true); // so that another shipper is next
  };

  const reportProgress = () => {
    if (!walk || performance.now() - walk.reportedAt < progressEveryMs) return;
    walk.reportedAt = performance.now();
    const { shipperId, deleted, index } = walk;
    logger.info({ shipperId, rows: deleted, at: dataSteps[index]?.rows }, 'removing a shipper');
  };

  return async () => {
    const startedAt = performance.now();
    current = null;
    try {
      if (!(await store.isAnyRemoved(db))) return undefined;
      const next = await db.transaction(deleteNext);
      if (next === undefined) return undefined;
      walk = next;
      reportProgress();
      pieceRows = afterPage({ after: null, size: pieceRows }, null, rowsPerPiece).size;
    } catch (error) {
      if (isFaultOfPiece(error) && current) await stepBack(current, error);
      throw error;
    }
    return Math.max(shortestPauseMs, pauseFactor * (performance.now() - startedAt));
  };
}

const behind = (steps: Step[], index: number, next: string | null) =>
  next === null ? { index: index + 1, after: steps[index + 1]?.first ?? '' } : { index, after: next };
