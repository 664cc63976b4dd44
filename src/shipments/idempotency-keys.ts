import type { Database } from '../platform/postgres.js';

const expiredAtOnce = 10_000;

/** Deletes the idempotency keys older than 24 hours, in bounded pieces. */
export async function dropExpiredKeys(db: Database): Promise<void> {
  let deleted: unknown[] = [];
  do deleted = await deleteExpired(db);
  while (deleted.length === expiredAtOnce);
}

const deleteExpired = (db: Database): Promise<unknown[]> =>
  db.query(
    'delete-expired-idempotency-keys',
    `delete from idempotency_keys where (shipper_id, key) in (
       select shipper_id, key from idempotency_keys
        where created_at < now() - interval '24 hours' order by created_at limit $1) returning 1`,
    [expiredAtOnce],
  );
