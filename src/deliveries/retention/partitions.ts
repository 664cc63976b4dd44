import type { Database } from '../../platform/database/postgres.js';

const dayMs = 86_400_000;
const daysAhead = 7;
const daysAtOnce = 20;

const yesterday = () => new Date(Date.now() - dayMs);

/** Yesterday's, today's and tomorrow's partitions of the log: without them nobody can work. */
export const makeFirstPartitions = (db: Database): Promise<void> => makePartitions(db, yesterday(), 1);

/** Those of the days to come, too. */
export const makeLogPartitions = (db: Database): Promise<void> => makePartitions(db, yesterday(), daysAhead);

/** Those of days gone by, which the log did not keep then and is to keep now; some at a time. */
export async function makePartitionsSince(db: Database, moment: Date, retentionMs: number): Promise<void> {
  const oldestMs = Date.now() - retentionMs;
  for (let atMs = Math.max(moment.getTime(), oldestMs); atMs <= Date.now(); atMs += daysAtOnce * dayMs)
    await makePartitions(db, new Date(atMs), 0);
}

/**
 * Makes what is not there yet, from a day (UTC) to the `ahead`th to come, of no more days than some. Safe for any
 * number of workers at once.
 */
async function makePartitions(db: Database, from: Date, ahead: number): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.query('lock-partitions', `select pg_advisory_xact_lock(hashtext('parcelhook-partitions'))`);
    await tx.query(
      'make-log-partitions',
      `select make_log_partitions(first, least(first + $3::int, (now() at time zone 'UTC')::date + $2::int))
         from (select ($1::timestamptz at time zone 'UTC')::date as first) f`,
      [from, ahead, daysAtOnce],
    );
  });
}
