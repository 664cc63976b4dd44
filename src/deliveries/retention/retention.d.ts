import type { Logger } from '../../platform/logger.js';
import type { Database } from '../../platform/database/postgres.js';
/**
 * Cancels what has been owed for longer than the log is kept, and drops the days of the log that are older, with one
 * worker at a time. A day of which something is still owed stays, and one that cannot be dropped without waiting goes
 * the next time.
 */
export declare function dropExpiredDays(db: Database, retentionMs: number, logger: Logger): Promise<void>;
