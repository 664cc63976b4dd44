import type { Database } from '../platform/postgres.js';

const daysBehind = 1;
const daysAhead = 7;
/** Idempotency keys are kept for 24 hours; the older ones go in bounded pieces. */
const expiredKeysAtOnce = 10_000;

/** Makes the log's partitions for the days to come. Safe for any number of workers at once. */
export async function makeLogPartitions(db: Database): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.query('lock-partitions', `select pg_advisory_xact_lock(hashtext('parcelhook-partitions'))`);
    await tx.query(
      'make-log-partitions',
      `select make_log_partitions((now() at time zone 'UTC')::date - $1::int, (now() at time zone 'UTC')::date + $2::int)`,
      [daysBehind, daysAhead],
    );
  });
}

/** What is to be done every hour. */
export async function maintainLog(db: Database): Promise<void> {
  await makeLogPartitions(db);
  let deleted: unknown[] = [];
  do deleted = await deleteExpiredKeys(db);
  while (deleted.length === expiredKeysAtOnce);
}

const deleteExpiredKeys = (db: Database): Promise<unknown[]> =>
  db.query(
    'delete-expired-idempotency-keys',
    `delete from idempotency_keys where (shipper_id, key) in (
       select shipper_id, key from idempotency_keys
        where created_at < now() - interval '24 hours' order by created_at limit $1) returning 1`,
    [expiredKeysAtOnce],
  );
