import type { Database } from '../../platform/database/postgres.js';
/** Yesterday's, today's and tomorrow's partitions of the log: without them nobody can work. */
export declare const makeFirstPartitions: (db: Database) => Promise<void>;
/** Those of the days to come, too. */
export declare const makeLogPartitions: (db: Database) => Promise<void>;
/** Those of days gone by, which the log did not keep then and is to keep now; some at a time. */
export declare function makePartitionsSince(db: Database, moment: Date, retentionMs: number): Promise<void>;
