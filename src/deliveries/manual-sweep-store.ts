import type { Database } from '../platform/postgres.js';

/** Manual attempts that wait, the longest waiting first, of each webhook at most `perWebhook`. */
export async function findManualWaiting(db: Database, perWebhook: number, limit: number): Promise<string[]> {
  const rows = await db.query<{ delivery_id: string }>(
    'find-manual-waiting',
    `select delivery_id from (
       select delivery_id, manual_requested_at,
              row_number() over (partition by webhook_id order by manual_requested_at) as place
         from deliveries where manual_requested_at is not null and not claimed
     ) waiting
      where place <= $1 order by manual_requested_at limit $2`,
    [perWebhook, limit],
  );
  return rows.map((row) => row.delivery_id);
}

/** Drops what was asked for and may not be sent any more: cancelled, deleted, or stopped since it was asked for. */
export async function dropVoidManual(db: Database): Promise<void> {
  await db.query(
    'drop-void-manual',
    `update deliveries d set manual_requested_at = null
       from webhooks w
      where d.manual_requested_at is not null and not d.claimed and w.webhook_id = d.webhook_id
        and (d.status = 'CANCELLED' or w.deleted_at is not null
             or (w.status <> 'ACTIVE' and d.manual_requested_at <= w.stopped_at))`,
  );
}

/**
 * Takes up attempts outside the schedule whose process is gone; they are logged without an outcome. A test ends
 * FAILED, a manual attempt waits again. Answers how many.
 */
export async function takeLapsedManual(
  db: Database,
  options: { leaseMs: number; graceMs: number; limit: number },
): Promise<number> {
  const rows = await db.query(
    'take-lapsed-manual',
    `with lapsed as (
       select delivery_id, attempt_count, trigger = 'TEST' as test, manual_lease_until from deliveries
        where manual_requested_at is not null and claimed and manual_lease_until <= now() and sweep_at is null
        limit $1 for update skip locked
     ), lost as (
       insert into attempts (delivery_id, number, trigger, started_at)
       select delivery_id, attempt_count, case when test then 'TEST' else 'MANUAL' end,
              manual_lease_until - make_interval(secs => $2::float8 / 1000)
         from lapsed
       on conflict do nothing
     )
     update deliveries d
        set claimed = false, manual_lease_until = null,
            manual_requested_at = case when not l.test then d.manual_requested_at end,
            trigger = case when l.test then 'SCHEDULED' else d.trigger end,
            status = case when l.test then 'FAILED' else d.status end,
            completed_at = case when l.test then now() else d.completed_at end,
            due_at = case when not l.test then d.due_at end,
            sweep_at = case when not l.test
                            then case d.status when 'PENDING' then d.due_at when 'HELD' then now() end
                                 + make_interval(secs => $3::float8 / 1000) end
       from lapsed l
      where d.delivery_id = l.delivery_id
     returning d.delivery_id`,
    [options.limit, options.leaseMs, options.graceMs],
  );
  return rows.length;
}
