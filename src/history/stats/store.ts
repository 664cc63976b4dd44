import type { Database } from '../../platform/database/postgres.js';
import { hourOf, isActive, isTroubled, ms } from '../../engine/engine.js';
import { describeError } from '../../platform/errors.js';
import type { Logger } from '../../platform/telemetry/logger.js';
import { createWalk } from '../../platform/tasks.js';
import { lowestId } from '../../platform/ids.js';

/** The hour in which the last successful attempt started; null if there was none. */
export const lastSuccessHour = (webhookId: string) => `greatest(
  (select hour from webhook_hours where webhook_id = ${webhookId} and hour <= now() and succeeded > 0
    order by hour desc limit 1),
  (select max(hour) from attempt_counts where webhook_id = ${webhookId} and hour <= now() and succeeded > 0))`;

/** Exact below 64 ms, then in steps of 8 %, so that none is off by more than 5 %. */
const rounded = (ms: string) =>
  `case when ${ms} < 64 then ${ms} else least(round(exp(round(ln(${ms}::float8) / 0.08) * 0.08)), 2147483647)::int end`;

/** durations_ms, duration_counts, p50_ms and p95_ms include folded hours; succeeded and failed are only `counts`. */
const sumOfCounts = `
  select webhook_id, hour, sum(succeeded)::int as succeeded, sum(failed)::int as failed,
         coalesce(array_agg(ms order by ms) filter (where ms is not null), '{}') as durations_ms,
         coalesce(array_agg(n order by ms) filter (where ms is not null), '{}') as duration_counts,
         min(ms) filter (where 2 * upto >= total) as p50_ms,
         min(ms) filter (where 20 * upto >= 19 * total) as p95_ms
    from (select *, sum(n) over (partition by webhook_id, hour order by ms) as upto,
                 sum(n) over (partition by webhook_id, hour) as total
            from (select webhook_id, hour, ms, sum(n)::int as n, sum(succeeded) as succeeded, sum(failed) as failed
                    from (select webhook_id, hour, null::int as ms, 0 as n, succeeded, failed from counts
                          union all
                          select webhook_id, hour, ${rounded('ms')}, 1, 0, 0
                            from (select webhook_id, hour, unnest(durations_ms) as ms from counts) d
                          union all
                          select webhook_id, hour, ms, n, 0, 0
                            from (select distinct webhook_id, hour from counts) c
                           cross join lateral (
                             select durations_ms, duration_counts from webhook_hours
                              where webhook_id = c.webhook_id and hour = c.hour limit 1) h
                           cross join lateral unnest(h.durations_ms, h.duration_counts) as folded (ms, n)
                         ) all_counts
                   group by webhook_id, hour, ms) by_duration) ranked
   group by webhook_id, hour`;

export const maxHours = 720;
const hourMs = 3_600_000;
const hoursPerStatement = 5_000;

export interface HourRow {
  webhookId: string;
  hour: Date;
  succeeded: number;
  failed: number;
  p50Ms: number | null;
  p95Ms: number | null;
}

/** Oldest first, hours without attempts included. One statement: counts folded meanwhile are in one of the tables. */
export function readHours(db: Database, webhookIds: string[], hours: number): Promise<HourRow[]> {
  return db.query<HourRow>(
    'read-webhook-hours',
    `with span as materialized (
       select ${hourOf('now()')} - make_interval(hours => $2::int - 1) as first
     ), given as materialized (
       select webhook_id, first from unnest($1::uuid[]) as webhook_id cross join span
     ), counts as materialized (
       select c.* from given a cross join lateral (
         select webhook_id, hour, succeeded, failed, durations_ms from attempt_counts
          where webhook_id = a.webhook_id and hour >= a.first offset 0) c
     )
     select webhook_id as "webhookId", hour, sum(succeeded)::int as succeeded, sum(failed)::int as failed,
            coalesce(max(p50_ms) filter (where is_latest), max(p50_ms)) as "p50Ms",
            coalesce(max(p95_ms) filter (where is_latest), max(p95_ms)) as "p95Ms"
       from (select webhook_id, hour, 0 as succeeded, 0 as failed, null::int as p50_ms, null::int as p95_ms,
                    false as is_latest
               from given cross join lateral generate_series(first, now(), '1 hour') as hour
             union all
             select h.*, false from given a cross join lateral (
               select webhook_id, hour, succeeded, failed, p50_ms, p95_ms from webhook_hours
                where webhook_id = a.webhook_id and hour between a.first and now() offset 0) h
             union all
             select webhook_id, hour, succeeded, failed, p50_ms, p95_ms, true
               from (${sumOfCounts}) c where hour <= now()
            ) all_counts
      group by webhook_id, hour order by webhook_id, hour`,
    [webhookIds, hours],
  );
}

/** Counts attempts of the current hour and the one before it; webhooks without any are left out. */
export function countRecentAttempts(
  db: Database,
  webhookIds: string[],
): Promise<{ webhookId: string; succeeded: number; failed: number }[]> {
  return db.query(
    'count-recent-attempts',
    `with given as materialized (
       select webhook_id, ${hourOf('now()')} - interval '1 hour' as first from unnest($1::uuid[]) as webhook_id
     )
     select a.webhook_id as "webhookId", sum(c.succeeded)::int as succeeded, sum(c.failed)::int as failed
       from given a cross join lateral (
         (select succeeded, failed from webhook_hours
           where webhook_id = a.webhook_id and hour between a.first and now() offset 0)
         union all
         (select succeeded, failed from attempt_counts
           where webhook_id = a.webhook_id and hour between a.first and now() offset 0)) c
      group by a.webhook_id`,
    [webhookIds],
  );
}

async function deleteHoursPage(db: Database, retentionMs: number, limit: number): Promise<number> {
  const rows = await db.query(
    'delete-old-hours',
    `with page as materialized (
       select webhook_id, hour from webhook_hours
        where hour < ${hourOf(`now() - ${ms('$1')}`)}
        order by hour limit $2 for update skip locked
     )
     delete from webhook_hours h using page p
      where h.webhook_id = any(array[p.webhook_id]) and h.hour = any(array[p.hour])
     returning 1`,
    [retentionMs, limit],
  );
  return rows.length;
}

/** Deletes old hours, but none that the API may show. */
export async function dropOldHours(db: Database, retentionMs: number): Promise<void> {
  const maxAgeMs = Math.max(retentionMs, maxHours * hourMs);
  while ((await deleteHoursPage(db, maxAgeMs, hoursPerStatement)) === hoursPerStatement);
}

const recentHours = `webhook_hours where hour between ${hourOf('now()')} - interval '1 hour' and now()`;

/**
 * Active webhooks with a failure in the current hour or the one before it, or since their last success: the highest
 * share of failed attempts first, then those that have been failing the longest. It reads two hours of the counts, and
 * the circuits; webhooks only until there are enough.
 */
export async function listFailing(db: Database, limit: number): Promise<string[]> {
  const rows = await db.query<{ webhookId: string }>(
    'list-failing-webhooks',
    `with counted as (
       select webhook_id, succeeded, failed, false as troubled, null::timestamptz as failing_since from ${recentHours}
       union all
       select webhook_id, 0, 0, true, failing_since from circuits c where ${isTroubled('c')}
     ), ranked as materialized (
       select webhook_id, coalesce(sum(failed)::float8 / nullif(sum(succeeded + failed), 0), 1) as rate,
              min(failing_since) as failing_since
         from counted group by webhook_id having sum(failed) > 0 or bool_or(troubled)
        order by rate desc, failing_since, webhook_id
     )
     select r.webhook_id as "webhookId"
       from ranked r cross join lateral (
         select 1 from webhooks where webhook_id = r.webhook_id and ${isActive('webhooks')} limit 1) w
      limit $1`,
    [limit],
  );
  return rows.map(({ webhookId }) => webhookId);
}

/** The slowest webhooks, by the p95 of the current hour or the one before it, whichever had more attempts. */
export async function listSlow(db: Database, limit: number): Promise<string[]> {
  const rows = await db.query<{ webhookId: string }>(
    'list-slow-webhooks',
    `with ranked as materialized (
       select webhook_id, hour, succeeded + failed as attempts, p95_ms from ${recentHours} and p95_ms is not null
        order by p95_ms desc, webhook_id
     )
     select r.webhook_id as "webhookId"
       from ranked r
      cross join lateral (select 1 from webhooks where webhook_id = r.webhook_id and deleted_at is null limit 1) w
       left join lateral (
         select 1 as found from ${recentHours} and webhook_id = r.webhook_id and hour <> r.hour and p95_ms is not null
            and (succeeded + failed, hour) > (r.attempts, r.hour) limit 1) busier on true
      where busier.found is null limit $1`,
    [limit],
  );
  return rows.map(({ webhookId }) => webhookId);
}

const countsPerStep = 2_000;

/** A page may end within a webhook's counts; the next page then begins with that webhook. */
interface Position {
  webhookId: string;
  isAfter: boolean;
}
const start: Position = { webhookId: lowestId, isAfter: false };

/**
 * The function adds some unfolded counts to their hours, webhook by webhook, and resolves with whether the walk goes
 * on; after its end the next step begins another one. A failed step is retried with fewer counts, and a webhook that
 * fails with a single count is skipped. One worker folds at a time, in one statement, so the sum of both tables is
 * always right.
 */
export function createFold(db: Database, logger: Logger): () => Promise<boolean> {
  const walk = createWalk<Position>(
    countsPerStep,
    (at) => findFirst(db, at ?? start),
    ({ webhookId }, error) =>
      logger.error(
        { webhookId, error: describeError(error) },
        'counts of a webhook not folded; the next walk retries',
      ),
  );
  return async () => {
    const { next } = await walk.page((at, limit) =>
      db.transaction(async (tx) => {
        if (!(await tryLockCounts(tx))) return { next: null };
        const { folded, last } = await fold(tx, at ?? start, limit);
        return { next: folded === limit && last !== null ? { webhookId: last, isAfter: false } : null };
      }),
    );
    return next !== null;
  };
}

const from = 'webhook_id >= $1 and (webhook_id > $1 or not $2)';

async function findFirst(db: Database, { webhookId, isAfter }: Position): Promise<Position | null> {
  const rows = await db.query<{ webhookId: string }>(
    'find-first-count',
    `select webhook_id as "webhookId" from attempt_counts where ${from} order by webhook_id limit 1`,
    [webhookId, isAfter],
  );
  return rows[0] ? { webhookId: rows[0].webhookId, isAfter: true } : null;
}

const lockKey = `hashtext('parcelhook-attempt-counts')`;

async function tryLockCounts(tx: Database): Promise<boolean> {
  const [row] = await tx.query<{ locked: boolean }>(
    'try-lock-counts',
    `select pg_try_advisory_xact_lock(${lockKey}) as locked`,
  );
  return row!.locked;
}

/** Locks the counts until this transaction ends, in a statement before those that rely on the lock. */
export async function lockCounts(tx: Database): Promise<void> {
  await tx.query('lock-counts', `select pg_advisory_xact_lock(${lockKey})`);
}

/** Returns the number folded and the last webhook, which may have more. */
async function fold(
  tx: Database,
  { webhookId, isAfter }: Position,
  limit: number,
): Promise<{ folded: number; last: string | null }> {
  const [row] = await tx.query<{ folded: number; last: string | null }>(
    'fold-counts',
    `with counts as (
       delete from attempt_counts where ctid = any(array(
         select ctid from attempt_counts where ${from} order by webhook_id limit $3))
       returning *
     ), folded as (
       insert into webhook_hours as h (webhook_id, hour, succeeded, failed, durations_ms, duration_counts, p50_ms, p95_ms)
       ${sumOfCounts}
       on conflict (webhook_id, hour) do update
          set succeeded = h.succeeded + excluded.succeeded, failed = h.failed + excluded.failed,
              durations_ms = excluded.durations_ms, duration_counts = excluded.duration_counts,
              p50_ms = excluded.p50_ms, p95_ms = excluded.p95_ms
     )
     select (select count(*)::int from counts) as folded,
            (select webhook_id from counts order by webhook_id desc limit 1) as last`,
    [webhookId, isAfter, limit],
  );
  return row!;
}
