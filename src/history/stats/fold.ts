import { describeError } from '../../platform/errors.js';
import type { Logger } from '../../platform/telemetry/logger.js';
import type { Database } from '../../platform/database/postgres.js';
import { createWalk } from '../../platform/walk.js';
import { sumOfCounts } from './store.js';

const firstKey = '00000000-0000-0000-0000-000000000000';
const countsPerStep = 2_000;

/** A page may end within a webhook's counts; the next page then begins with that webhook. */
interface Position {
  webhookId: string;
  isAfter: boolean;
}
const start: Position = { webhookId: firstKey, isAfter: false };

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
       ${sumOfCounts('counts')}
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
