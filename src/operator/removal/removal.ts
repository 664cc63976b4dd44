import type { Logger } from '../../platform/logger.js';
import type { Metrics } from '../../platform/metrics.js';
import { isOfThePiece, type Database } from '../../platform/database/postgres.js';
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
  deletePiece: store.DeletePiece;
  /** Where its keys begin. */
  first: string;
}

const firstId = '00000000-0000-0000-0000-000000000000';
const step = (rows: string, deletePiece: store.DeletePiece, first = firstId): Step => ({
  rows,
  deletePiece,
  first,
});

/** What still may come in while a shipper is removed, in an order in which nothing is left that leads to what is gone. */
const dataSteps: Step[] = [
  step('webhooks', store.stopWebhooks),
  step('outbox', store.deleteOwed),
  step('deliveries', store.deleteLogged),
  step('simulations', store.deleteSimulations),
  step('orders_to_create', store.deleteWaitingOrders),
  step('attempt_counts', store.deleteCounts),
  step('events', store.deleteEvents),
  step('idempotency_keys', store.deleteKeys, ''),
];
/** What that refers to. */
const lastSteps: Step[] = [step('webhooks', store.deleteWebhooks), step('users', store.deleteUsers, '')];

const rowsPerPiece = 500;
/** Factor by which a piece shrinks when it exceeded the statement timeout: any amount of data may depend on a row. */
const shrinkBy = 8;
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
  /** In all walks of this process. */
  deleted: number;
  toldAt: number;
}

const start = { index: 0, after: firstId, found: 0 };

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
      const { deleted, next } = await deletePiece(tx, at.shipperId, after, pieceRows);
      if (deleted === 0 && next === null) continue;
      metrics.removalRows.inc({ rows }, deleted);
      const there =
        next === null ? { index: index + 1, after: steps[index + 1]?.first ?? '' } : { index, after: next };
      return { ...at, ...there, found: at.found + deleted, deleted: at.deleted + deleted };
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

  const turn = async (tx: Database): Promise<boolean> => {
    if (!(await store.lockRemovals(tx))) return false;
    const removed = await store.takeRemoved(tx, deps.quietMs);
    if (!removed) return false;
    const at = walkOf(removed.shipperId);
    const next = await advance(tx, dataSteps, at);
    if (next) {
      if (removed.isQuiet && next.found > 0) await store.markEmptied(tx, at.shipperId, false);
      walk = next;
    } else if (at.found > 0) walk = { ...at, ...start };
    else if (removed.isQuiet) walk = await finish(tx, at);
    else {
      await store.markEmptied(tx, at.shipperId, true);
      walk = { ...at, ...start };
    }
    tell();
    return true;
  };

  const tell = () => {
    if (!walk || performance.now() - walk.toldAt < progressEveryMs) return;
    walk.toldAt = performance.now();
    const { shipperId, deleted, index } = walk;
    logger.info({ shipperId, rows: deleted, at: dataSteps[index]?.rows }, 'removing a shipper');
  };

  return async () => {
    const startedAt = performance.now();
    try {
      if (!(await store.isAnyRemoved(db)) || !(await db.transaction(turn))) return undefined;
      pieceRows = Math.min(2 * pieceRows, rowsPerPiece);
    } catch (error) {
      walk = null; // what was not committed is not gone
      if (isOfThePiece(error)) pieceRows = Math.ceil(pieceRows / shrinkBy);
      throw error;
    }
    return Math.max(shortestPauseMs, pauseFactor * (performance.now() - startedAt));
  };
}
