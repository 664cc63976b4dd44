import type { Logger } from '../platform/telemetry/logger.js';
import { createGate } from '../platform/limits/gate.js';
import type { Route } from '../http/route.js';
import { createFeedBounds } from './bounds.js';
import { feedRoute, type FeedRouteDependencies } from './routes.js';
import { createWatcher } from './watcher.js';

export interface Feed {
  route: Route;
  /** Requests that wait for events of these shippers are checked soon. */
  nudge(shipperIds: Iterable<string>): void;
  waiting(): number;
  /** With an empty page, now and later. */
  endWaits(): void;
}

export interface FeedDependencies extends Pick<FeedRouteDependencies, 'db' | 'retentionMs' | 'stillAllowed'> {
  /** Of all shippers. */
  maxWaiting: number;
  logger: Logger;
  onRefused(): void;
}

const maxWaitingPerShipper = 50;
const maxUnreadBytes = 8 << 20;
/** Uses two connections to PostgreSQL; the watcher uses one more while a request waits. */
const reads = { concurrency: 2, maxWaiting: 2_000, maxWaitMs: 5_000 };

export function createFeed(deps: FeedDependencies): Feed {
  const watcher = createWatcher(deps.db, deps.logger);
  const bounds = createFeedBounds({
    maxWaiting: maxWaitingPerShipper,
    maxWaitingInAll: deps.maxWaiting,
    maxUnreadBytes,
    onRefused: deps.onRefused,
  });
  return {
    route: feedRoute({ ...deps, gate: createGate(reads), bounds, watcher }),
    nudge: watcher.nudge,
    waiting: bounds.waiting,
    endWaits: watcher.stop,
  };
}
