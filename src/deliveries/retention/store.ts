import type { Database } from '../../platform/database/postgres.js';
import { ms, owedSinceBefore } from '../outbox/sql.js';

/** Days (`YYYYMMDD`, UTC) of which the log still has a partition and that ended before the retention, oldest first. */
export async function listExpiredDays(db: Database, retentionMs: number): Promise<string[]> {
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

/** Makes this transaction the only one that drops partitions; false where another one does. */
export async function lockRetention(tx: Database): Promise<boolean> {
  const [row] = await tx.query<{ locked: boolean }>(
    'lock-retention',
    `select pg_try_advisory_xact_lock(hashtext('parcelhook-retention')) as locked`,
  );
  return row!.locked;
}

/** Whether something of this day or an earlier one is still owed: the log it will enter must be there. */
export async function isOwedUntil(db: Database, day: string): Promise<boolean> {
  const rows = await db.query(
    'is-owed-until',
    `${owedSinceBefore(`(to_date($1, 'YYYYMMDD') + 1)::timestamp at time zone 'UTC'`)} limit 1`,
    [day],
  );
  return rows.length > 0;
}

/**
 * Drops the partitions of a day. The lock this takes stops everybody who uses the log, so it is waited for briefly
 * and not at all where somebody works on an old day. Throws UNAVAILABLE then.
 */
export async function dropDay(tx: Database, day: string, lockTimeoutMs: number): Promise<void> {
  await tx.query('bound-lock', `select set_config('lock_timeout', $1, true)`, [`${lockTimeoutMs}ms`]);
  await tx.query('drop-day', 'select drop_log_day($1)', [day]);
}

/** Forgets replays that were over before the retention; a bounded piece. */
export async function deleteOldReplays(db: Database, retentionMs: number, limit: number): Promise<void> {
  await db.query(
    'delete-old-replays',
    `delete from replays where replay_id in (
       select replay_id from replays
        where status <> 'RUNNING' and not withdrawing and finished_at < now() - ${ms('$1')} limit $2)`,
    [retentionMs, limit],
  );
}
