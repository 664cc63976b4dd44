/** Somebody who waited for a row that somebody else had locked. */
export interface LockWait {
    waiting: string;
    /** What those it waited for did at that moment. */
    blocking: string[];
    event: string;
}
/** Looks every 20 ms at who waits for a row of this database, until it is stopped. */
export declare function watchLockWaits(databaseUrl: string): Promise<{
    stop(): Promise<{
        samples: number;
        found: LockWait[];
        deadlocks: number;
    }>;
}>;
