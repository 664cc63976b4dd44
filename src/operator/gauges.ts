import { countOpenCircuits, readLag, readUncalled } from '../deliveries/outbox/lag.js';
import type { Database } from '../platform/database/postgres.js';
import { show, type Metrics } from '../platform/telemetry/metrics.js';
import type { Producer } from '../platform/queue/engine.js';
import { countRemoved } from './removal-store.js';

const openCounted = 200_000;

export interface GaugeDependencies {
  db: Database;
  producers: Map<string, Producer>;
  metrics: Metrics;
}

/** Every worker reports the same. Rejects if a part could not be read; its gauges have no series until it can. */
export async function refreshGauges(deps: GaugeDependencies): Promise<void> {
  const { metrics } = deps;
  const results = await Promise.allSettled([
    refreshDeliveries(deps),
    refreshUncalled(deps),
    refreshWebhooks(deps),
    refreshOldestSnapshot(deps),
    refreshQueues(deps),
  ]);
  for (const result of results) if (result.status === 'rejected') throw result.reason;
  metrics.refreshedAt.setToCurrentTime();
}

const refreshDeliveries = ({ db, metrics }: GaugeDependencies): Promise<void> =>
  show(
    [metrics.deliveriesOpen, metrics.oldestWaiting, metrics.oldestLapsedClaim],
    readLag(db, openCounted),
    (lag) => {
      metrics.deliveriesOpen.set({ status: 'PENDING' }, lag.pending);
      metrics.deliveriesOpen.set({ status: 'SENDING' }, lag.sending);
      metrics.deliveriesOpen.set({ status: 'HELD' }, lag.held);
      metrics.oldestWaiting.set(lag.oldestDueSeconds);
      metrics.oldestLapsedClaim.set(lag.oldestLapsedSeconds);
    },
  );

const refreshUncalled = ({ db, metrics }: GaugeDependencies): Promise<void> =>
  show(
    [metrics.deliveriesUncalled],
    readUncalled(db, openCounted).then((shippers) =>
      shippers.reduce((sum, { deliveries }) => sum + deliveries, 0),
    ),
    (owed) => metrics.deliveriesUncalled.set(owed),
  );

interface WebhookFigures {
  byStatus: { status: string; count: number }[];
  circuitsOpen: number;
  shippersToRemove: number;
}

const statuses = ['ACTIVE', 'PAUSED', 'DISABLED'];

const refreshWebhooks = ({ db, metrics }: GaugeDependencies): Promise<void> =>
  show(
    [metrics.webhooks, metrics.circuitsOpen, metrics.shippersToRemove],
    readWebhooks(db),
    ({ byStatus, circuitsOpen, shippersToRemove }) => {
      for (const { status, count } of byStatus) metrics.webhooks.set({ status }, count);
      metrics.circuitsOpen.set(circuitsOpen);
      metrics.shippersToRemove.set(shippersToRemove);
    },
  );

const readWebhooks = async (db: Database): Promise<WebhookFigures> => ({
  byStatus: await db.query(
    'count-webhooks',
    `select s.status, count(w.status)::int as count
       from unnest($1::text[]) as s (status)
       left join webhooks w on w.status = s.status and w.deleted_at is null
      group by s.status`,
    [statuses],
  ),
  circuitsOpen: await countOpenCircuits(db),
  shippersToRemove: await countRemoved(db),
});

/** Under an old snapshot the outbox keeps dead rows, and every query of due deliveries reads them again. */
const refreshOldestSnapshot = ({ db, metrics }: GaugeDependencies): Promise<void> =>
  show(
    [metrics.oldestSnapshot],
    db.query<{ seconds: number }>(
      'oldest-snapshot',
      `select coalesce(extract(epoch from now() - min(since)), 0)::float8 as seconds from (
         select xact_start as since from pg_stat_activity
          where datname = current_database() and backend_type = 'client backend'
            and (backend_xmin is not null or backend_xid is not null)
         union all
         select prepared from pg_prepared_xacts where database = current_database()) s`,
    ),
    ([row]) => metrics.oldestSnapshot.set(row!.seconds),
  );

/** All queues have one backend. */
const refreshQueues = ({ producers, metrics }: GaugeDependencies): Promise<void> =>
  show(
    [metrics.queueJobs, metrics.queueOldestWaiting],
    Promise.all(
      [...producers].map(async ([queue, producer]) => {
        const [counts, oldestMs] = await Promise.all([producer.counts(), producer.oldestWaitingMs()]);
        return { queue, counts, oldestMs };
      }),
    ),
    (queues) => {
      for (const { queue, counts, oldestMs } of queues) {
        for (const [state, count] of Object.entries(counts)) metrics.queueJobs.set({ queue, state }, count);
        metrics.queueOldestWaiting.set({ queue }, oldestMs / 1_000);
      }
    },
  );
