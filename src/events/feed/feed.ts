import type { Logger } from '../../platform/logger.js';
import { createGate } from '../../platform/limits/gate.js';
import type { Route } from '../../http/route.js';
import { createFeedBounds } from './bounds.js';
import { feedRoute, type FeedRouteDependencies } from './routes.js';
import { createWatcher } from './watcher.js';

export interface Feed {
  route: Route;
  /** This process has recorded events of these shippers: whoever waits for them need not wait longer. */
  nudge(shipperIds: Iterable<string>): void;
  /** How many wait. */
  waiting(): number;
  /** Answers all who wait with what there is; nobody waits any more. */
  endWaits(): void;
}

export interface FeedDependencies extends Pick<FeedRouteDependencies, 'db' | 'retentionMs' | 'stillAllowed'> {
  /** Requests that may wait at once, of all shippers. */
  maxWaiting: number;
  logger: Logger;
  onRefused(): void;
}

const maxWaitingPerShipper = 50;
const maxUntakenBytes = 8 << 20;
/** Of the connections to PostgreSQL; the watcher has one more while somebody waits. */
const reads = { concurrency: 2, maxWaiting: 2_000, maxWaitMs: 5_000 };

/** The feed of one process. */
export function createFeed(deps: FeedDependencies): Feed {
  const watcher = createWatcher(deps.db, deps.logger);
  const bounds = createFeedBounds({
    maxWaiting: maxWaitingPerShipper,
    maxWaitingInAll: deps.maxWaiting,
    maxUntakenBytes,
    onRefused: deps.onRefused,
  });
  return {
    route: feedRoute({ ...deps, gate: createGate(reads), bounds, watcher }),
    nudge: watcher.nudge,
    waiting: bounds.waiting,
    endWaits: watcher.stop,
  };
}
