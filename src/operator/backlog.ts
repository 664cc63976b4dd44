import { laneLimits } from '../deliveries/dispatch/lanes.js';
import { placesOf } from '../deliveries/dispatch/places.js';
import { readBacklog, type Backlog, type HeldBack } from '../deliveries/outbox/sendable.js';
import type { Database } from '../platform/database/postgres.js';
import { forget, type Metrics } from '../platform/telemetry/metrics.js';
import { readUncreated } from '../shipments/store.js';

const maxAgeMs = 60_000;

/**
 * Gauges of what waits for us, and of what waits for others, as PostgreSQL has them, and the worker's own claims. Every
 * role reports them, because a worker that is gone cannot; what a worker has no places for, only itself knows. There is
 * no series before the first read, after one that failed, and when the last one is older than a minute. `refresh`
 * rejects if a part could not be read.
 */
export function createBacklogGauges(deps: {
  db: Database;
  metrics: Metrics;
  /** DELIVERY_CONCURRENCY of the workers. */
  concurrency: number;
  /** The claims that wait in this process, if it is a worker. */
  heldBack?: (() => Record<string, HeldBack>) | undefined;
  /** A monotonic clock, in milliseconds. */
  now?: () => number;
}): { refresh(): Promise<void> } {
  const { db, metrics, now = () => performance.now() } = deps;
  const fullFrom = laneLimits(deps.concurrency).slowFrom;
  const shipperFullFrom = placesOf(deps.concurrency).maxOfShipper.slow;
  let last: Pick<Backlog, 'full' | 'readAtMs'> = { full: {}, readAtMs: 0 };

  const ofDeliveries = shown(
    { metrics, now },
    [metrics.sendableDeliveries, metrics.sendableOldest, metrics.waitingDeliveries, metrics.webhooksUnserved],
    async () => {
      const backlog = await readBacklog(db, {
        fullFrom,
        shipperFullFrom,
        last,
        heldBack: deps.heldBack?.() ?? {},
      });
      last = backlog;
      metrics.sendableDeliveries.set(backlog.sendable);
      metrics.sendableOldest.set(backlog.oldestSendableSeconds);
      for (const [cause, count] of Object.entries(backlog.waiting))
        metrics.waitingDeliveries.set({ cause }, count);
      for (const [cause, count] of Object.entries(backlog.unserved))
        metrics.webhooksUnserved.set({ cause }, count);
    },
  );
  const ofOrders = shown(
    { metrics, now },
    [metrics.ordersUncreated, metrics.orderOldestUncreated],
    async () => {
      const { count, oldestSeconds } = await readUncreated(db);
      metrics.ordersUncreated.set(count);
      metrics.orderOldestUncreated.set(oldestSeconds);
    },
  );
  return {
    refresh: async () => {
      const results = await Promise.allSettled([ofDeliveries(), ofOrders()]);
      for (const result of results) if (result.status === 'rejected') throw result.reason;
    },
  };
}

/** `read` sets the gauges; they are forgotten when it fails, and when it last succeeded too long ago. */
function shown(
  { metrics, now }: { metrics: Metrics; now: () => number },
  gauges: Parameters<typeof forget>,
  read: () => Promise<void>,
): () => Promise<void> {
  let readAtMs = -Infinity;
  metrics.onScrape(() => {
    if (now() - readAtMs > maxAgeMs) forget(...gauges);
  });
  return async () => {
    const startedAtMs = now();
    try {
      await read();
      readAtMs = startedAtMs;
    } catch (error) {
      forget(...gauges);
      throw error;
    }
  };
}
