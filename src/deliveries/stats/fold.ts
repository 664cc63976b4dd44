import { describeError } from '../../platform/errors.js';
import type { Logger } from '../../platform/logger.js';
import type { Database } from '../../platform/database/postgres.js';
import { createWalk } from '../../platform/walk.js';
import { summedUp } from './sql.js';

const firstKey = '00000000-0000-0000-0000-000000000000';
const countsPerStep = 2_000;

/** A page may end within a webhook that has many counts: then the next page begins with that webhook. */
interface Position {
  webhookId: string;
  /** Whether the next page begins after the webhook. */
  isBehind: boolean;
}
const atFirst: Position = { webhookId: firstKey, isBehind: false };

/**
 * Returns a function that does the next step of a walk over the counts that are not folded yet, webhook by webhook. A
 * step adds some of them to the hours they belong to. It resolves with whether the walk goes on; after its end the next
 * step begins another one. A step that fails is retried with fewer counts, and a webhook that fails even with a single
 * count is skipped. One worker at a time does this, in one statement, so the sum of both tables is always right.
 */
export function createFold(db: Database, logger: Logger): () => Promise<boolean> {
  const walk = createWalk<Position>(
    countsPerStep,
    (at) => findFirst(db, at ?? atFirst),
    ({ webhookId }, error) =>
      logger.error(
        { webhookId, error: describeError(error) },
        'counts not folded; the next walk tries again',
      ),
  );
  return async () => {
    const { next } = await walk.page((at, limit) =>
      db.transaction(async (tx) => {
        if (!(await tryLockCounts(tx))) return { next: null };
        const { folded, last } = await fold(tx, at ?? atFirst, limit);
        return { next: folded === limit && last !== null ? { webhookId: last, isBehind: false } : null };
      }),
    );
    return next !== null;
  };
}

const from = 'webhook_id >= $1 and (webhook_id > $1 or not $2)';

async function findFirst(db: Database, { webhookId, isBehind }: Position): Promise<Position | null> {
  const rows = await db.query<{ webhookId: string }>(
    'find-first-count',
    `select webhook_id as "webhookId" from attempt_counts where ${from} order by webhook_id limit 1`,
    [webhookId, isBehind],
  );
  return rows[0] ? { webhookId: rows[0].webhookId, isBehind: true } : null;
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

/** Folds at most `limit` counts from a position on. Returns how many, and their last webhook, which may have more. */
async function fold(
  tx: Database,
  { webhookId, isBehind }: Position,
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
       ${summedUp('counts')}
       on conflict (webhook_id, hour) do update
          set succeeded = h.succeeded + excluded.succeeded, failed = h.failed + excluded.failed,
              durations_ms = excluded.durations_ms, duration_counts = excluded.duration_counts,
              p50_ms = excluded.p50_ms, p95_ms = excluded.p95_ms
     )
     select (select count(*)::int from counts) as folded,
            (select webhook_id from counts order by webhook_id desc limit 1) as last`,
    [webhookId, isBehind, limit],
  );
  return row!;
}
