import type { Metrics } from '../platform/metrics.js';
import type { Database } from '../platform/database/postgres.js';
import type { Producer } from '../platform/queue/engine.js';
import { countOpenCircuits, readLag, readUncalled } from './lag-store.js';
import { countRemoved } from './removal/store.js';

const openCounted = 200_000;

export interface GaugeDependencies {
  db: Database;
  producers: Map<string, Producer>;
  metrics: Metrics;
}

/**
 * Reads the gauges that tell of the whole deployment; every worker does, and they agree. Rejects if a part of it
 * could not be read; then the old figures stay, and `metrics_refreshed_timestamp_seconds` tells their age.
 */
export async function refreshGauges(deps: GaugeDependencies): Promise<void> {
  const { metrics } = deps;
  const results = await Promise.allSettled([
    refreshDeliveries(deps),
    refreshUncalled(deps),
    refreshWebhooks(deps),
    refreshOldestSnapshot(deps),
    ...[...deps.producers].map(([name, producer]) => refreshQueue(metrics, name, producer)),
  ]);
  for (const result of results) if (result.status === 'rejected') throw result.reason;
  metrics.refreshedAt.setToCurrentTime();
}

async function refreshDeliveries({ db, metrics }: GaugeDependencies): Promise<void> {
  const { pending, sending, held, oldestDueSeconds, oldestLapsedSeconds } = await readLag(db, openCounted);
  metrics.deliveriesOpen.set({ status: 'PENDING' }, pending);
  metrics.deliveriesOpen.set({ status: 'SENDING' }, sending);
  metrics.deliveriesOpen.set({ status: 'HELD' }, held);
  metrics.oldestWaiting.set(oldestDueSeconds);
  metrics.oldestLapsedClaim.set(oldestLapsedSeconds);
}

async function refreshUncalled({ db, metrics }: GaugeDependencies): Promise<void> {
  const shippers = await readUncalled(db, openCounted);
  metrics.deliveriesUncalled.set(shippers.reduce((sum, { deliveries }) => sum + deliveries, 0));
}

async function refreshWebhooks({ db, metrics }: GaugeDependencies): Promise<void> {
  const rows = await db.query<{ status: string; count: number }>(
    'count-webhooks',
    `select s.status, count(w.status)::int as count
       from unnest(array['ACTIVE', 'PAUSED', 'DISABLED']) as s (status)
       left join webhooks w on w.status = s.status and w.deleted_at is null
      group by s.status`,
  );
  for (const { status, count } of rows) metrics.webhooks.set({ status }, count);
  metrics.circuitsOpen.set(await countOpenCircuits(db));
  metrics.shippersToRemove.set(await countRemoved(db));
}

/** Under an old snapshot the outbox keeps what is long gone, and everybody who looks for what is due reads it again. */
async function refreshOldestSnapshot({ db, metrics }: GaugeDependencies): Promise<void> {
  const [row] = await db.query<{ seconds: number }>(
    'oldest-snapshot',
    `select coalesce(extract(epoch from now() - min(since)), 0)::float8 as seconds from (
       select xact_start as since from pg_stat_activity
        where datname = current_database() and backend_type = 'client backend'
          and (backend_xmin is not null or backend_xid is not null)
       union all
       select prepared from pg_prepared_xacts where database = current_database()) s`,
  );
  metrics.oldestSnapshot.set(row!.seconds);
}

async function refreshQueue(metrics: Metrics, queue: string, producer: Producer): Promise<void> {
  for (const [state, count] of Object.entries(await producer.counts()))
    metrics.queueJobs.set({ queue, state }, count);
  metrics.queueOldestWaiting.set({ queue }, (await producer.oldestWaitingMs()) / 1_000);
}
