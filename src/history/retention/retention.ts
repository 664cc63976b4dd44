import { describeError } from '../../platform/errors.js';
import type { Logger } from '../../platform/telemetry/logger.js';
import type { Database } from '../../platform/database/postgres.js';
import { cancelExpired, eventsOf, ms, owedSinceBefore, owedTo } from '../../engine/engine.js';
import { createWalk } from '../../platform/tasks.js';
import { lowestId } from '../../platform/ids.js';

const cancelledPerStatement = 1_000;
const replaysPerRun = 1_000;
const lockTimeoutMs = 500;

/** One worker at a time. A day with owed deliveries stays; the next run retries one that would have to wait. */
export async function dropExpiredDays(db: Database, retentionMs: number, logger: Logger): Promise<void> {
  let expired = 0;
  let cancelled: number;
  do {
    cancelled = await cancelExpired(db, retentionMs, cancelledPerStatement);
    expired += cancelled;
  } while (cancelled > 0);
  if (expired > 0)
    logger.warn(
      { deliveries: expired },
      'deliveries cancelled: they were owed for longer than the log retention',
    );
  for (const day of await listExpiredDays(db, retentionMs)) {
    try {
      if (await isOwedUntil(db, day)) break;
      const dropped = await db.transaction(async (tx) => {
        if (!(await lockRetention(tx))) return false;
        await dropDay(tx, day, lockTimeoutMs);
        // While this waited for its lock, a replay may have made deliveries of that day again.
        if (await isOwedUntil(tx, day)) throw new Error('deliveries of this day are owed again');
        return true;
      });
      if (!dropped) break;
      logger.info({ day }, 'day of the log dropped');
    } catch (error) {
      logger.warn({ day, error: describeError(error) }, 'day of the log not dropped; retrying next run');
    }
  }
  await deleteOldReplays(db, retentionMs, replaysPerRun);
}

async function deleteOldReplays(db: Database, retentionMs: number, limit: number): Promise<void> {
  await db.query(
    'delete-old-replays',
    `delete from replays where replay_id in (
       select replay_id from replays
        where status <> 'RUNNING' and not withdrawing and finished_at < now() - ${ms('$1')} limit $2)`,
    [retentionMs, limit],
  );
}

async function listExpiredDays(db: Database, retentionMs: number): Promise<string[]> {
  const rows = await db.query<{ day: string }>(
    'list-expired-days',
    `select distinct right(c.relname, 8) as day
       from pg_inherits i join pg_class c on c.oid = i.inhrelid
      where i.inhparent in ('deliveries'::regclass, 'attempts'::regclass)
        and c.relname ~ '^(deliveries|attempts)_[0-9]{8}$'
        and (to_date(right(c.relname, 8), 'YYYYMMDD') + 1)::timestamp at time zone 'UTC'
            <= now() - ${ms('$1')}
      order by day`,
    [retentionMs],
  );
  return rows.map((row) => row.day);
}

/** False if another transaction drops partitions. */
async function lockRetention(tx: Database): Promise<boolean> {
  const [row] = await tx.query<{ locked: boolean }>(
    'lock-retention',
    `select pg_try_advisory_xact_lock(hashtext('parcelhook-retention')) as locked`,
  );
  return row!.locked;
}

/** True if a delivery of this day or an earlier one is still owed: it will need the partition of the log. */
export async function isOwedUntil(db: Database, day: string): Promise<boolean> {
  const rows = await db.query(
    'is-owed-until',
    `${owedSinceBefore(`(to_date($1, 'YYYYMMDD') + 1)::timestamp at time zone 'UTC'`)} limit 1`,
    [day],
  );
  return rows.length > 0;
}

/**
 * The drop locks out all use of the log, so it waits only briefly for the lock. Throws UNAVAILABLE if an old day is in
 * use.
 */
async function dropDay(tx: Database, day: string, lockTimeoutMs: number): Promise<void> {
  await tx.query('bound-lock', `select set_config('lock_timeout', $1, true)`, [`${lockTimeoutMs}ms`]);
  await tx.query('drop-day', 'select drop_log_day($1)', [day]);
}

const log = ['deliveries', 'attempts'];
const dayMs = 86_400_000;
const daysMade = 7;
const maxDays = 20;

const yesterday = () => new Date(Date.now() - dayMs);

const daysAheadAtFirst = 2; // with fewer, a new deployment would alarm until its first maintenance

export const makeFirstPartitions = (db: Database): Promise<void> =>
  makePartitions(db, yesterday(), daysAheadAtFirst);

export const makeLogPartitions = (db: Database): Promise<void> => makePartitions(db, yesterday(), daysMade);

export interface Walk {
  shipperId: string;
  /** Null: those of all shipments of the shipper. */
  shipmentId: string | null;
  since: Date;
}

/**
 * Makes the log's partitions of past days for what a replay sends, which may be missing since the retention was raised:
 * of days on which there were events, however far back the replay begins.
 */
export async function makePartitionsFor(db: Database, walk: Walk, retentionMs: number): Promise<void> {
  const days = await findDaysWithoutPartition(db, walk, retentionMs);
  for (let made = 0; made < days.length; made += maxDays)
    await locked(db, (tx) =>
      tx.query('make-days', 'select make_log_partitions(day, day) from unnest($1::date[]) day', [
        days.slice(made, made + maxDays),
      ]),
    );
}

const isOfDay = `event_id >= uuid_floor(day at time zone 'UTC')
  and event_id < uuid_floor((day + interval '1 day') at time zone 'UTC')`;
const lacks = (table: string) => `to_regclass('${table}_' || to_char(day, 'YYYYMMDD')) is null`;

async function findDaysWithoutPartition(
  db: Database,
  { shipperId, shipmentId, since }: Walk,
  retentionMs: number,
): Promise<string[]> {
  const rows = await db.query<{ day: string }>(
    'find-days-without-partition',
    `select day::date::text as day
       from generate_series((greatest($3::timestamptz, now() - ${ms('$4')}) at time zone 'UTC')::date::timestamp,
                            (now() at time zone 'UTC')::date::timestamp, '1 day') day
      where (${log.map(lacks).join(' or ')})
        and case when $2::uuid is null
                 then exists (select from events
                               where shipper_id = $1 and shipment_id is not null and ${isOfDay})
                 else exists (select from ${eventsOf('$2::uuid', 'event_id', `sequence > 0 and ${isOfDay}`)} e)
            end`,
    [shipperId, shipmentId, since, retentionMs],
  );
  return rows.map(({ day }) => day);
}

/** Makes the partitions from a day on (UTC), at most `maxDays` of them. Safe for many workers. */
async function makePartitions(db: Database, from: Date, ahead: number): Promise<void> {
  await locked(db, (tx) =>
    tx.query(
      'make-log-partitions',
      `select make_log_partitions(first, least(first + $3::int, (now() at time zone 'UTC')::date + $2::int))
         from (select ($1::timestamptz at time zone 'UTC')::date as first) f`,
      [from, ahead, maxDays],
    ),
  );
}

/** One process at a time makes partitions. */
const locked = (db: Database, make: (tx: Database) => Promise<unknown>): Promise<unknown> =>
  db.transaction(async (tx) => {
    await tx.query('lock-partitions', `select pg_advisory_xact_lock(hashtext('parcelhook-partitions'))`);
    return make(tx);
  });

export interface Partition {
  table: string;
  fromMs: number;
  untilMs: number;
}

const partitioned = [...log, 'events'];

export async function readPartitions(db: Database): Promise<Partition[]> {
  const rows = await db.query<{ table: string; date: string }>(
    'read-partitions',
    `select p.relname as "table", substring(c.relname from '_([0-9]{6}|[0-9]{8})$') as date
       from pg_inherits i join pg_class c on c.oid = i.inhrelid join pg_class p on p.oid = i.inhparent
      where i.inhparent = any($1::text[]::regclass[]) and c.relname ~ '_([0-9]{6}|[0-9]{8})$'`,
    [partitioned],
  );
  return rows.map(({ table, date }) => ({ table, ...spanOf(date) }));
}

/** `YYYYMMDD` is a day, `YYYYMM` a month (UTC). */
function spanOf(date: string): Pick<Partition, 'fromMs' | 'untilMs'> {
  const [year, month, day] = [date.slice(0, 4), date.slice(4, 6), date.slice(6)].map(Number) as [
    number,
    number,
    number,
  ];
  const fromMs = Date.UTC(year, month - 1, day || 1);
  return { fromMs, untilMs: day ? fromMs + dayMs : Date.UTC(year, month) };
}

/** How many days from `nowMs` on have their partition without a gap, by table; 0 where there is none for now. */
export function daysAhead(partitions: Partition[], nowMs: number): Map<string, number> {
  const lastingMs = new Map(partitioned.map((table) => [table, nowMs]));
  for (const { table, fromMs, untilMs } of [...partitions].sort((a, b) => a.fromMs - b.fromMs)) {
    const lastMs = lastingMs.get(table)!;
    if (fromMs <= lastMs) lastingMs.set(table, Math.max(lastMs, untilMs));
  }
  return new Map([...lastingMs].map(([table, lastMs]) => [table, (lastMs - nowMs) / dayMs]));
}

/** How many days ago the oldest partition of the log should have been dropped, by table; 0 while none should. */
export function daysBehind(partitions: Partition[], retentionMs: number, nowMs: number): Map<string, number> {
  const untilMs = (table: string) =>
    partitions.filter((partition) => partition.table === table).map((partition) => partition.untilMs);
  return new Map(log.map((table) => [table, behindDays(Math.min(...untilMs(table)), retentionMs, nowMs)]));
}

/**
 * How many days ago data that ended at `endMs` should have gone; 0 while it should not, or there is none (Infinity).
 */
export const behindDays = (endMs: number, retentionMs: number, nowMs: number): number =>
  Math.max(0, (nowMs - retentionMs - endMs) / dayMs);

const webhooksPerStep = 500;
/** Longer than any statement that may still insert deliveries for a webhook deleted meanwhile. */
const minAge = '1 hour';

/**
 * The function purges the deleted webhooks of a few hundred without rows in the outbox, the log, replays or unfolded
 * counts. A failed step is retried with fewer webhooks, and one that fails alone is skipped. It resolves with whether
 * the walk goes on; after its end the next step begins another one.
 */
export function createPurge(db: Database, logger: Logger): () => Promise<boolean> {
  const walk = createWalk<string>(
    webhooksPerStep,
    (after) => findFirstDeleted(db, after ?? lowestId),
    (webhookId, error) =>
      logger.error({ webhookId, error: describeError(error) }, 'webhook not purged; the next walk retries'),
  );
  return async () => {
    const { next, purged } = await walk.page(async (after, limit) => {
      const done = await purgeDeletedWebhooks(db, after ?? lowestId, limit);
      return { next: done.checked === limit ? done.last : null, purged: done.purged };
    });
    if (purged > 0) logger.info({ webhooks: purged }, 'deleted webhooks purged');
    return next !== null;
  };
}

const isOldEnough = `deleted_at is not null and deleted_at < now() - interval '${minAge}'`;

async function findFirstDeleted(db: Database, after: string): Promise<string | null> {
  const rows = await db.query<{ webhookId: string }>(
    'find-first-deleted',
    `select webhook_id as "webhookId" from webhooks where ${isOldEnough} and webhook_id > $1 order by webhook_id limit 1`,
    [after],
  );
  return rows[0]?.webhookId ?? null;
}

const references = [
  owedTo('p.webhook_id'),
  ...['deliveries', 'redeliveries', 'replays', 'attempt_counts'].map(
    (table) => `select 1 from ${table} where webhook_id = p.webhook_id`,
  ),
];
/** Index reads, one per table and webhook, whatever the size of the tables. */
const isUnreferenced = references.map((reference) => `(${reference} limit 1) is null`).join(' and ');

async function purgeDeletedWebhooks(db: Database, after: string, limit: number) {
  const [row] = await db.query<{ last: string | null; checked: number; purged: number }>(
    'purge-deleted-webhooks',
    `with page as materialized (
       select webhook_id from webhooks
        where ${isOldEnough} and webhook_id > $1
        order by webhook_id limit $2
     ), unreferenced as materialized (
       select webhook_id from page p
        where ${isUnreferenced}
     ), purged as (
       delete from webhooks w using unreferenced u where w.webhook_id = u.webhook_id returning w.webhook_id
     ), purged_circuits as (
       delete from circuits c using unreferenced u where c.webhook_id = u.webhook_id
     ), purged_hours as (
       delete from webhook_hours h using unreferenced u where h.webhook_id = any(array[u.webhook_id])
     ), purged_exhausted as (
       delete from exhausted_deliveries e using unreferenced u where e.webhook_id = any(array[u.webhook_id])
     ), purged_starts as (
       delete from webhook_starts s using unreferenced u where s.webhook_id = any(array[u.webhook_id])
     )
     select (select webhook_id from page order by webhook_id desc limit 1) as last,
            (select count(*)::int from page) as checked, (select count(*)::int from purged) as purged`,
    [after, limit],
  );
  return row!;
}
