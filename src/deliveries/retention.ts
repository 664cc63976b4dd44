import { describeError } from '../platform/errors.js';
import type { Logger } from '../platform/logger.js';
import type { Database } from '../platform/postgres.js';
import { deleteOldReplays, dropDay, expireOpen, listExpiredDays, lockRetention } from './retention-store.js';

const openPerStatement = 1_000;
const oldReplaysAtOnce = 1_000;
const lockTimeoutMs = 500;

/**
 * Drops the days of the log that are older than the retention, with one worker at a time. What is still open in
 * them is settled first, in commits of its own. A day that cannot be dropped without waiting goes the next time.
 */
export async function dropExpiredDays(db: Database, retentionMs: number, logger: Logger): Promise<void> {
  for (const day of await listExpiredDays(db, retentionMs)) {
    let expired = 0;
    for (let settled = -1; settled !== 0; expired += settled)
      settled = await expireOpen(db, day, openPerStatement);
    try {
      const dropped = await db.transaction(async (tx) => {
        if (!(await lockRetention(tx))) return false;
        await dropDay(tx, day, lockTimeoutMs);
        return true;
      });
      if (!dropped) return;
      logger.info({ day, expired }, 'log dropped');
    } catch (error) {
      logger.warn({ day, error: describeError(error) }, 'log not dropped yet; the next time');
    }
  }
  await deleteOldReplays(db, retentionMs, oldReplaysAtOnce);
}
