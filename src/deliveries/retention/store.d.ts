import type { Database } from '../../platform/database/postgres.js';
/** Days (`YYYYMMDD`, UTC) of which the log still has a partition and that ended before the retention, oldest first. */
export declare function listExpiredDays(db: Database, retentionMs: number): Promise<string[]>;
/** Makes this transaction the only one that drops partitions; false where another one does. */
export declare function lockRetention(tx: Database): Promise<boolean>;
/** Whether something of this day or an earlier one is still owed: the log it will enter must be there. */
export declare function isOwedUntil(db: Database, day: string): Promise<boolean>;
/**
 * Drops the partitions of a day. The lock this takes stops everybody who uses the log, so it is waited for briefly
 * and not at all where somebody works on an old day. Throws UNAVAILABLE then.
 */
export declare function dropDay(tx: Database, day: string, lockTimeoutMs: number): Promise<void>;
/** Forgets replays that were over before the retention; a bounded piece. */
export declare function deleteOldReplays(db: Database, retentionMs: number, limit: number): Promise<void>;
