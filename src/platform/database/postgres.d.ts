import type { Logger } from '../logger.js';
/** What a store function needs: one prepared statement, or several in one transaction. */
export interface Database {
    /**
     * Runs a statement prepared under `name`, or planned each time if that is empty; the rows. Throws ApiError
     * UNAVAILABLE if PostgreSQL is out of reach.
     */
    query<Row = Record<string, unknown>>(name: string, text: string, values?: unknown[]): Promise<Row[]>;
    transaction<T>(work: (db: Database) => Promise<T>): Promise<T>;
}
export interface Pool extends Database {
    end(): Promise<void>;
    /** Connections open, idle, and callers waiting for one. */
    usage(): {
        total: number;
        idle: number;
        waiting: number;
    };
}
export interface PoolOptions {
    connectionString: string;
    applicationName: string;
    maxConnections: number;
    /** Whether a commit waits for the disk. Only what may be lost with a crash of PostgreSQL goes without. */
    durable: boolean;
    /** Bound on one statement, at the server. */
    statementTimeoutMs: number;
    logger: Logger;
}
/** For pools: each side hears within half a minute that the other is gone, also on a connection that is idle. */
export declare const keepAlive: {
    keepAlive: boolean;
    keepAliveInitialDelayMillis: number;
};
export declare const serverKeepAlive: string[];
/** True for a violated unique constraint (SQLSTATE 23505). */
export declare const isUniqueViolation: (error: unknown) => boolean;
/** True for a statement that took longer than it may (SQLSTATE 57014). */
export declare const isTooSlow: (error: unknown) => boolean;
/** A pool in which every wait has a bound. Connections that break are replaced, never fatal. */
export declare function createPool(options: PoolOptions): Pool;
