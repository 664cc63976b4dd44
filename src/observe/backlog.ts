import { countRemoved } from '../accounts/removal/store.js';
import { readOldestMail } from '../mail/store.js';
import { laneLimits, placesOf, type HeldBack } from '../engine/engine.js';
import { countOpenCircuits, readUncalled, readBacklog, type Backlog, type BacklogOptions } from './owed.js';
import { requireWritable, type Database } from '../platform/database/postgres.js';
import type { Producer } from '../platform/queue/engine.js';
import { forget, show } from '../platform/telemetry/figures.js';
import type { Metrics } from '../platform/telemetry/metrics.js';
import { readUncreated } from '../shipments/store.js';
import { inParallel } from './infrastructure.js';

const maxAgeMs = 60_000;

/** The number of claims from which a receiver counts as full, given DELIVERY_CONCURRENCY of the workers. */
export const fullFrom = (concurrency: number): Pick<BacklogOptions, 'fullFrom' | 'shipperFullFrom'> => ({
  fullFrom: laneLimits(concurrency).slowFrom,
  shipperFullFrom: placesOf(concurrency).maxOfShipper.slow,
});

/**
 * Gauges of what waits for us, and of what waits for others, as PostgreSQL has them, and the worker's own claims. Every
 * role reports them, because a worker that is gone cannot; what a worker has no places for, only itself knows. There is
 * no series before the first read, after one that failed, and when the last one is older than a minute. `refresh`
 * rejects if a part could not be read.
 */
export function createBacklogGauges(deps: {
  db: Database;
  metrics: Metrics;
  concurrency: number;
  /** The claims that this process holds back, if it is a worker. */
  heldBack?: (() => Record<string, HeldBack>) | undefined;
  /** Whether e-mails are sent. */
  mails?: boolean;
  now?: () => number;
}): { refresh(): Promise<void> } {
  const { db, metrics, now = () => performance.now() } = deps;
  const full = fullFrom(deps.concurrency);
  let last: Pick<Backlog, 'full' | 'readAtMs'> = { full: {}, readAtMs: 0 };

  /** Gauges are forgotten when the last read that succeeded is too old. */
  const shown = <Figures>(
    gauges: Parameters<typeof forget>,
    read: () => Promise<Figures>,
    set: (figures: Figures) => void,
  ) => {
    let readAtMs = -Infinity;
    metrics.onScrape(() => {
      if (now() - readAtMs > maxAgeMs) forget(...gauges);
    });
    return async () => {
      const startedAtMs = now();
      await show(gauges, read(), set);
      readAtMs = startedAtMs;
    };
  };
  const ofDeliveries = shown(
    [
      metrics.sendableDeliveries,
      metrics.sendableOldest,
      metrics.waitingDeliveries,
      metrics.webhooksUnserved,
      metrics.deliveriesOpen,
      metrics.oldestWaiting,
      metrics.oldestLapsedClaim,
    ],
    () => readBacklog(db, { ...full, last, heldBack: deps.heldBack?.() ?? {} }),
    (backlog) => {
      last = backlog;
      showBacklog(metrics, backlog);
    },
  );
  const ofOrders = shown(
    [metrics.ordersUncreated, metrics.orderOldestUncreated],
    () => readUncreated(db),
    ({ count, oldestSeconds }) => {
      metrics.ordersUncreated.set(count);
      metrics.orderOldestUncreated.set(oldestSeconds);
    },
  );
  const ofMails = shown(
    [metrics.mailOldestOwed],
    () => readOldestMail(db),
    (seconds) => metrics.mailOldestOwed.set(seconds),
  );
  return {
    refresh: () => inParallel(ofDeliveries(), ofOrders(), ...(deps.mails ? [ofMails()] : [])),
  };
}

function showBacklog(metrics: Metrics, backlog: Backlog): void {
  const { waiting, sendable, sending } = backlog;
  metrics.sendableDeliveries.set(sendable);
  metrics.sendableOldest.set(backlog.oldestSendableSeconds);
  for (const [cause, count] of Object.entries(waiting)) metrics.waitingDeliveries.set({ cause }, count);
  for (const [cause, count] of Object.entries(backlog.unserved))
    metrics.webhooksUnserved.set({ cause }, count);
  const held = waiting.suspended + waiting.paused + waiting.disabled + waiting.circuit + waiting.turn;
  metrics.deliveriesOpen.set({ status: 'PENDING' }, backlog.due + waiting.retry);
  metrics.deliveriesOpen.set({ status: 'SENDING' }, sending);
  metrics.deliveriesOpen.set({ status: 'HELD' }, held);
  metrics.oldestWaiting.set(backlog.oldestDueSeconds);
  metrics.oldestLapsedClaim.set(backlog.oldestLapsedSeconds);
}

const uncalledCounted = 200_000;

export interface GaugeDependencies {
  db: Database;
  readOldestSnapshot: () => Promise<number>;
  producers: Map<string, Producer>;
  metrics: Metrics;
}

/** Every worker reports the same. Rejects if a part could not be read; its gauges have no series until it can. */
export async function refreshGauges(deps: GaugeDependencies): Promise<void> {
  const { metrics } = deps;
  await inParallel(
    refreshUncalled(deps),
    refreshWebhooks(deps),
    show([metrics.oldestSnapshot], deps.readOldestSnapshot(), (seconds) =>
      metrics.oldestSnapshot.set(seconds),
    ),
    refreshQueues(deps),
  );
  metrics.refreshedAt.setToCurrentTime();
}

const refreshUncalled = ({ db, metrics }: GaugeDependencies): Promise<void> =>
  show(
    [metrics.deliveriesUncalled],
    readUncalled(db, uncalledCounted).then((shippers) =>
      shippers.reduce((sum, { deliveries }) => sum + deliveries, 0),
    ),
    (owed) => metrics.deliveriesUncalled.set(owed),
  );

const refreshWebhooks = ({ db, metrics }: GaugeDependencies): Promise<void> =>
  inParallel(
    show(
      [metrics.webhooks],
      db.query<{ status: string; count: number }>(
        'count-webhooks',
        `select s.status, count(w.status)::int as count
           from unnest('{ACTIVE,PAUSED,DISABLED}'::text[]) as s (status)
           left join webhooks w on w.status = s.status and w.deleted_at is null
          group by s.status`,
      ),
      (rows) => {
        for (const { status, count } of rows) metrics.webhooks.set({ status }, count);
      },
    ),
    show([metrics.circuitsOpen], countOpenCircuits(db), (open) => metrics.circuitsOpen.set(open)),
    show([metrics.shippersToRemove], countRemoved(db), (count) => metrics.shippersToRemove.set(count)),
  );

/** The transaction that holds back vacuum, and since when this process has seen it. */
interface Holder {
  xid: string | null;
  sinceMs: number;
}

/**
 * Reads how long dead rows have been kept from vacuum: under an old snapshot every query of due deliveries reads them
 * again. Other roles' `xact_start` is hidden from a role without pg_read_all_stats, their `backend_xmin` is not: so the
 * age is at least since this process first saw the oldest one. While nothing is written, none has an age.
 */
export function oldestSnapshotReader(db: Database): () => Promise<number> {
  let last: Holder = { xid: null, sinceMs: 0 };
  return async () => {
    const nowMs = performance.now();
    const [oldest] = await db.query<{ xid: string; openSeconds: number }>(
      'oldest-snapshot',
      `select xid::text as xid, coalesce(extract(epoch from now() - min(since)), 0)::float8 as "openSeconds" from (
         select unnest(array[backend_xmin, backend_xid]) as xid, xact_start as since from pg_stat_activity
          where usesysid is not null and (datid is null or datname = current_database()) and pid <> pg_backend_pid()
         union all
         select transaction, prepared from pg_prepared_xacts where database = current_database()
         union all
         select xmin, null from pg_replication_slots) h
        where age(xid) > 0
        group by h.xid::text, age(xid) order by age(xid) desc limit 1`,
    );
    const xid = oldest?.xid ?? null;
    const sinceMs = xid === last.xid ? last.sinceMs : nowMs;
    last = { xid, sinceMs: Math.min(sinceMs, nowMs - (oldest?.openSeconds ?? 0) * 1_000) };
    return xid === null ? 0 : (nowMs - last.sinceMs) / 1_000;
  };
}

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

const some = (rows: string) => `exists (select from ${rows})`;

/** Each look says whether the background tasks may have work of that kind. It reads the first entry of an index. */
const looks = {
  owed: some('outbox'),
  orders: some('orders_to_create'),
  redeliveries: some('redeliveries'),
  replays: some(`replays where status = 'RUNNING' or withdrawing`),
  simulations: some('simulations'),
  circuits: some('circuits where failing_since is not null or open_until is not null'),
  exhausted: some('exhausted_deliveries'),
  parking: `${some('outbox')} and (${some('circuits where open_until is not null')}
    or ${some(`webhooks where deleted_at is null and (status <> 'ACTIVE' or suspended)`)})`,
  removals: some(`shippers where status = 'REMOVED'`),
  counts: some('attempt_counts'),
  mails: some('mails where next_try_at <= now()'),
  notices: some('notices_to_mail'),
};

export type Work = keyof typeof looks;

/** Assumed while PostgreSQL cannot be asked. */
export const anyWork = new Set(Object.keys(looks)) as ReadonlySet<Work>;

const columns = Object.entries(looks).map(([work, look]) => `${look} as ${work}`);

/** Rejects on a server that is read-only: after a failover the old one knows of no new work. */
export async function findWork(db: Database): Promise<ReadonlySet<Work>> {
  const [found] = await db.query<Record<Work | 'readOnly', boolean>>(
    'find-work',
    `select ${columns.join(', ')}, current_setting('transaction_read_only')::boolean as "readOnly"`,
  );
  if (found!.readOnly) await requireWritable(db); // makes the pool close its connections
  return new Set([...anyWork].filter((work) => found![work]));
}
