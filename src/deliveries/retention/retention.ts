import { describeError } from '../../platform/errors.js';
import type { Logger } from '../../platform/logger.js';
import type { Database } from '../../platform/database/postgres.js';
import { cancelExpired } from '../outbox/cancel.js';
import { deleteOldReplays, dropDay, isOwedUntil, listExpiredDays, lockRetention } from './store.js';

const cancelledPerStatement = 1_000;
const oldReplaysAtOnce = 1_000;
const lockTimeoutMs = 500;

/**
 * Cancels what has been owed for longer than the log is kept, and drops the days of the log that are older, which one
 * worker at a time does. A day of which something is still owed stays, and one that cannot be dropped without waiting
 * goes the next time.
 */
export async function dropExpiredDays(db: Database, retentionMs: number, logger: Logger): Promise<void> {
  let expired = 0;
  let cancelled: number;
  do {
    cancelled = await cancelExpired(db, retentionMs, cancelledPerStatement);
    expired += cancelled;
  } while (cancelled > 0);
  if (expired > 0) logger.warn({ deliveries: expired }, 'owed for longer than the log is kept: cancelled');
  for (const day of await listExpiredDays(db, retentionMs)) {
    try {
      if (await isOwedUntil(db, day)) break;
      const dropped = await db.transaction(async (tx) => {
        if (!(await lockRetention(tx))) return false;
        await dropDay(tx, day, lockTimeoutMs);
        // A replay that was under way may have brought something of it back while this waited for its lock.
        if (await isOwedUntil(tx, day)) throw new Error('something of it is owed again');
        return true;
      });
      if (!dropped) break;
      logger.info({ day }, 'log dropped');
    } catch (error) {
      logger.warn({ day, error: describeError(error) }, 'log not dropped yet; the next time');
    }
  }
  await deleteOldReplays(db, retentionMs, oldReplaysAtOnce);
}
