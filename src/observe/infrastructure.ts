import { oldestAuditMs } from '../accounts/audit.js';
import { behindDays, daysAhead, daysBehind, readPartitions } from '../history/retention/retention.js';
import type { Database } from '../platform/database/postgres.js';
import { whenScraped } from '../platform/tasks.js';
import { show } from '../platform/telemetry/figures.js';
import type { Metrics } from '../platform/telemetry/metrics.js';
import type { QueueEngine } from '../platform/queue/engine.js';
import { queueSchema } from '../platform/queue/backends.js';
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

export const refreshSizes = (deps: InfrastructureDependencies, nowMs: number): Promise<void> =>
  inParallel(
    show(
      [deps.metrics.databaseSize],
      deps.db.query<{ bytes: number }>(
        'read-database-bytes',
        'select pg_database_size(current_database())::float8 as bytes',
      ),
      ([row]) => deps.metrics.databaseSize.set(row!.bytes),
    ),
    show([deps.metrics.partitionsAhead], readPartitions(deps.db), (partitions) => {
      for (const [table, days] of daysAhead(partitions, nowMs))
        deps.metrics.partitionsAhead.set({ table }, days);
    }),
    refreshCopies(deps),
  );

/** Never rejects: a managed server may refuse these figures, and the other readings report one that is away. */
export const refreshCopies = ({
  db,
  metrics,
}: Pick<InfrastructureDependencies, 'db' | 'metrics'>): Promise<void> =>
  show(
    [
      metrics.slotKept,
      metrics.slotLimit,
      metrics.archiveFailing,
      metrics.standbys,
      metrics.standbyLagBytes,
      metrics.standbyLagSeconds,
    ],
    readCopies(db),
    ({ slots, slotLimit, archiveFailing, standbys }) => {
      for (const { slot, bytes } of slots) metrics.slotKept.set({ slot }, bytes);
      if (slotLimit !== null) metrics.slotLimit.set(slotLimit);
      if (archiveFailing !== null) metrics.archiveFailing.set(archiveFailing);
      if (standbys === null) return;
      metrics.standbys.set(standbys.reduce((sum, { count }) => sum + count, 0));
      for (const { standby, bytes, seconds } of standbys) {
        if (bytes !== null) metrics.standbyLagBytes.set({ standby }, bytes);
        metrics.standbyLagSeconds.set({ standby }, seconds);
      }
    },
  ).catch(() => undefined);

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

interface Copies {
  slots: { slot: string; bytes: number }[];
  slotLimit: number | null;
  archiveFailing: number | null;
  /** By name; `bytes` is null until a standby of that name has told its position. */
  standbys: { standby: string; count: number; bytes: number | null; seconds: number }[] | null;
}

/** Slots, the archive and standbys; these are null for a role without pg_monitor, which sees only that they exist. */
async function readCopies(db: Database): Promise<Copies> {
  const [copies] = await db.query<Copies>(
    'read-copies',
    `with head as materialized (
       select case when pg_is_in_recovery() then pg_last_wal_receive_lsn() else pg_current_wal_lsn() end as lsn
     ), slots as (
       select slot_name as slot, pg_wal_lsn_diff(lsn, restart_lsn) as bytes
         from pg_replication_slots, head where restart_lsn is not null order by bytes desc limit 50
     ), standbys as (
       select application_name as standby, count(*) as count,
              max(pg_wal_lsn_diff(lsn, coalesce(replay_lsn, flush_lsn))) as bytes,
              coalesce(max(extract(epoch from replay_lag)), 0) as seconds
         from pg_stat_replication, head where state in ('streaming', 'catchup')
        group by application_name order by bytes desc limit 50
     )
     select (select coalesce(json_agg(s), '[]') from slots s) as slots,
            (select setting::float8 * 1048576 from pg_settings
              where name = 'max_slot_wal_keep_size' and setting <> '-1') as "slotLimit",
            (select case when last_failed_time > coalesce(last_archived_time, '-infinity')
                         then extract(epoch from clock_timestamp() - coalesce(last_archived_time, stats_reset)) else 0
                    end::float8
               from pg_stat_archiver where current_setting('archive_mode') <> 'off') as "archiveFailing",
            case when pg_has_role('pg_read_all_stats', 'usage')
                 then (select coalesce(json_agg(s), '[]') from standbys s) end as standbys`,
  );
  return copies!;
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
