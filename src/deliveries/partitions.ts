import type { Database } from '../platform/postgres.js';

const daysBehind = 1;
const daysAhead = 7;

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
