import type { Database } from '../platform/postgres.js';

/**
 * How long the delivery that has waited longest is due, in seconds; 0 where none waits. What is due has its sweep_at
 * within two minutes and a half, so the retries of the future, however many, are not looked at.
 */
export async function oldestWaitingSeconds(db: Database): Promise<number> {
  const [row] = await db.query<{ seconds: number }>(
    'oldest-waiting',
    `select coalesce(extract(epoch from now() - min(due_at)), 0)::float8 as seconds from (
       select due_at from deliveries
        where sweep_at <= now() + interval '150 seconds' and status = 'PENDING' and not claimed and due_at <= now()
        order by sweep_at limit 1000) due`,
  );
  return row!.seconds;
}

/** Of webhooks that would be called. */
export async function countOpenCircuits(db: Database): Promise<number> {
  const [row] = await db.query<{ count: number }>(
    'count-circuits-open',
    `select count(*)::int as count from circuits join webhooks using (webhook_id)
      where open_until is not null and status = 'ACTIVE' and deleted_at is null`,
  );
  return row!.count;
}
