import { oldestAuditMs } from '../accounts/audit.js';
import { behindDays, daysAhead, daysBehind, readPartitions } from '../history/retention/log-days.js';
import type { Database } from '../platform/database/postgres.js';
import { whenScraped } from '../platform/every.js';
import { show, type Metrics } from '../platform/telemetry/metrics.js';
import type { QueueEngine } from '../platform/queue/engine.js';
import { queueSchema } from '../platform/queue/postgres.js';
import { nextAccepted, nextAgain } from '../shipments/erasure.js';

export interface InfrastructureDependencies {
  /** Statements of this connection must be bounded in time. */
  db: Database;
  engine: Pick<QueueEngine, 'memory'>;
  metrics: Metrics;
  sizeLimitBytes: number | undefined;
  retentionMs: { log: number; audit: number; shipments: number };
}

const limitsEveryMs = 10_000;
/** Reading sizes takes one file's size for each table and index of the database. */
const sizesEveryMs = 50_000;
const maxTables = 50;

/**
 * Every role reads limits, for alerts without a worker; sizes and ages of tables wake nobody and are left to workers.
 */
export function watchInfrastructure(
  deps: InfrastructureDependencies,
  isWorker: boolean,
  watch: Parameters<typeof whenScraped>[2],
): { stop(): Promise<unknown> } {
  if (deps.sizeLimitBytes !== undefined) deps.metrics.databaseSizeLimit.set(deps.sizeLimitBytes);
  const tasks = [
    whenScraped(limitsEveryMs, 'limits', watch, () => refreshLimits(deps)),
    whenScraped(sizesEveryMs, 'sizes', watch, () => refreshSizes(deps, Date.now())),
    ...(isWorker ? [whenScraped(sizesEveryMs, 'tables', watch, () => refreshTables(deps, Date.now()))] : []),
  ];
  return { stop: () => Promise.all(tasks.map((task) => task.stop())) };
}

/** An unreachable Redis is no failure here: the queue's check reports it. */
export const refreshLimits = ({ db, engine, metrics }: InfrastructureDependencies): Promise<void> =>
  inParallel(
    show(
      [metrics.databaseConnections, metrics.databaseConnectionsLimit],
      readConnections(db),
      ({ used, limit }) => {
        metrics.databaseConnections.set(used);
        metrics.databaseConnectionsLimit.set(limit);
      },
    ),
    show(
      [metrics.transactionIdAge],
      db.query<{ age: number }>(
        'read-transaction-id-age',
        'select max(age(datfrozenxid))::int as age from pg_database',
      ),
      ([row]) => metrics.transactionIdAge.set(row!.age),
    ),
    show([metrics.redisMemory, metrics.redisMemoryLimit], engine.memory(), (memory) => {
      if (memory === null) return;
      metrics.redisMemory.set(memory.usedBytes);
      if (memory.limitBytes !== null) metrics.redisMemoryLimit.set(memory.limitBytes);
    }).catch(() => undefined),
  );

export const refreshSizes = ({ db, metrics }: InfrastructureDependencies, nowMs: number): Promise<void> =>
  inParallel(
    show(
      [metrics.databaseSize],
      db.query<{ bytes: number }>(
        'read-database-bytes',
        'select pg_database_size(current_database())::float8 as bytes',
      ),
      ([row]) => metrics.databaseSize.set(row!.bytes),
    ),
    show([metrics.partitionsAhead], readPartitions(db), (partitions) => {
      for (const [table, days] of daysAhead(partitions, nowMs)) metrics.partitionsAhead.set({ table }, days);
    }),
  );

export const refreshTables = (deps: InfrastructureDependencies, nowMs: number): Promise<void> =>
  inParallel(
    show([deps.metrics.tableSize], readTableBytes(deps.db), (tables) => {
      for (const { table, bytes } of tables) deps.metrics.tableSize.set({ table }, bytes);
    }),
    show([deps.metrics.retentionBehind], readBehind(deps, nowMs), (behind) => {
      for (const [table, days] of behind) deps.metrics.retentionBehind.set({ table }, days);
    }),
  );

/**
 * The limit (of the server, the database or a role) is the one that is nearest to being reached. The role sees that
 * others' connections exist, not what they do.
 */
async function readConnections(db: Database): Promise<{ used: number; limit: number }> {
  const [nearest] = await db.query<{ used: number; limit: number }>(
    'read-connections',
    `with clients as materialized (
       select datname, usename from pg_stat_activity
        where datid is not null and coalesce(backend_type, 'client backend') = 'client backend'
     )
     select used::int, "limit" from (
       select (select count(*) from clients) as used,
              current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
                - coalesce(current_setting('reserved_connections', true)::int, 0) as "limit"
       union all
       select (select count(*) from clients where datname = d.datname), datconnlimit
         from pg_database d where datname = current_database() and datconnlimit > 0
       union all
       select (select count(*) from clients where usename = rolname), rolconnlimit
         from pg_roles where rolname = session_user and rolconnlimit > 0) l
      order by used::float8 / "limit" desc limit 1`,
  );
  return nearest!;
}

/** Partitions count for their table, the tables of the queue on PostgreSQL for their schema. */
const readTableBytes = (db: Database): Promise<{ table: string; bytes: number }[]> =>
  db.query(
    'read-table-bytes',
    `select case when r.relnamespace = current_schema()::regnamespace then r.relname
                 else r.relnamespace::regnamespace::text end as "table",
            sum(pg_total_relation_size(c.oid))::float8 as bytes
       from pg_class c join pg_class r on r.oid = coalesce(pg_partition_root(c.oid), c.oid)
      where c.relkind = 'r'
        and (c.relnamespace = current_schema()::regnamespace or c.relnamespace = to_regnamespace($2))
      group by 1 order by bytes desc limit $1`,
    [maxTables, queueSchema],
  );

async function readBehind(
  { db, retentionMs }: InfrastructureDependencies,
  nowMs: number,
): Promise<Map<string, number>> {
  const [partitions, audit, ...shipments] = await Promise.all([
    readPartitions(db),
    oldestAuditMs(db),
    nextAccepted(db, retentionMs.shipments, 1),
    nextAgain(db, retentionMs.shipments, 1),
  ]);
  const lastStatesMs = shipments.flat().map(({ lastStateAt }) => lastStateAt.getTime());
  return new Map([
    ...daysBehind(partitions, retentionMs.log, nowMs),
    ['audit', behindDays(audit, retentionMs.audit, nowMs)],
    ['shipments', behindDays(Math.min(...lastStatesMs), retentionMs.shipments, nowMs)],
  ]);
}

/** Rejects if one of them does, once all are read. */
export async function inParallel(...readings: Promise<void>[]): Promise<void> {
  for (const result of await Promise.allSettled(readings))
    if (result.status === 'rejected') throw result.reason;
}
