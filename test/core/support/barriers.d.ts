import type { Database } from '../../../src/platform/database/postgres.js';
/**
 * Where a statement is stopped.
 *   SNAPSHOT  it has its snapshot and has locked and changed nothing yet: what is committed from now on it does not see
 *   COMMIT    all is done but the commit: nobody sees it, and its row locks hold
 */
export type StopAt = 'SNAPSHOT' | 'COMMIT';
/** A database on which one statement stops once, until it is told to go on. */
export interface Stop {
    db: Database;
    /** The statement stands. */
    reached: Promise<void>;
    go(): void;
}
/**
 * A trigger before each statement that writes the outbox, which has its snapshot then: with `test.gate` set it waits
 * for that gate.
 */
export declare function installGates(db: Database): Promise<void>;
/** Stops the first statement named `name` that runs on the database returned. */
export declare const stopAt: (on: {
    db: Database;
    databaseUrl: string;
}, name: string, where: StopAt) => Stop;
/** Resolves when `work` is done, or stands before a lock that somebody else holds. */
export declare function doneOrWaiting(db: Database, work: Promise<unknown>): Promise<'done' | 'waiting'>;
