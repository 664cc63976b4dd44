import type { Database } from '../../platform/database/postgres.js';
import { summedUp } from './sql.js';

const firstKey = '00000000-0000-0000-0000-000000000000';
const countsPerStep = 2_000;

/**
 * Makes steps of a walk over the counts that are not folded yet, webhook by webhook: each adds some of them to the hours
 * they belong to. Resolves with whether the walk goes on; after its end the next step begins another one. One worker does
 * it at a time, in one statement, so what is read of both tables is never too much or too little.
 */
export function createFold(db: Database): () => Promise<boolean> {
  let after = firstKey;
  return async () => {
    const { folded, last } = await db.transaction(async (tx) =>
      (await tryLockCounts(tx)) ? fold(tx, after) : { folded: 0, last: null },
    );
    const goesOn = folded === countsPerStep && last !== null;
    after = goesOn ? last : firstKey;
    return goesOn;
  };
}

const lockKey = `hashtext('parcelhook-attempt-counts')`;

async function tryLockCounts(tx: Database): Promise<boolean> {
  const [row] = await tx.query<{ locked: boolean }>(
    'try-lock-counts',
    `select pg_try_advisory_xact_lock(${lockKey}) as locked`,
  );
  return row!.locked;
}

/** Nothing is folded until this transaction ends; to be taken in a statement before. */
export async function lockCounts(tx: Database): Promise<void> {
  await tx.query('lock-counts', `select pg_advisory_xact_lock(${lockKey})`);
}

/** Folds counts of the webhooks from `first` on. Returns how many, and the last of their webhooks, which may have more. */
async function fold(tx: Database, first: string): Promise<{ folded: number; last: string | null }> {
  const [row] = await tx.query<{ folded: number; last: string | null }>(
    'fold-counts',
    `with counts as (
       delete from attempt_counts where ctid = any(array(
         select ctid from attempt_counts where webhook_id >= $1 order by webhook_id limit $2))
       returning *
     ), folded as (
       insert into webhook_hours as h (webhook_id, hour, succeeded, failed, durations_ms, duration_counts, p50_ms, p95_ms)
       ${summedUp('counts')}
       on conflict (webhook_id, hour) do update
          set succeeded = h.succeeded + excluded.succeeded, failed = h.failed + excluded.failed,
              durations_ms = excluded.durations_ms, duration_counts = excluded.duration_counts,
              p50_ms = excluded.p50_ms, p95_ms = excluded.p95_ms
     )
     select (select count(*)::int from counts) as folded,
            (select webhook_id from counts order by webhook_id desc limit 1) as last`,
    [first, countsPerStep],
  );
  return row!;
}
