import type { Database } from '../platform/database/postgres.js';
/** What is owed, as the log would call it, and how long the oldest of it that could be sent has waited. */
export interface Lag {
    pending: number;
    sending: number;
    held: number;
    /** Due to webhooks that may be called, and not being sent. */
    due: number;
    /** Seconds that the longest due of them has waited; 0 where none waits. */
    oldestDueSeconds: number;
}
/** Counts at most `limit` of the deliveries owed; the oldest that could be sent is found among all of them. */
export declare function readLag(db: Database, limit: number): Promise<Lag>;
/** Of webhooks that would be called. */
export declare function countOpenCircuits(db: Database): Promise<number>;
