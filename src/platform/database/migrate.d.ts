import type { Logger } from '../logger.js';
import type { Database } from './postgres.js';
/** Takes PostgreSQL's `server_version_num`. Throws where it is older than 15. */
export declare function requireServerVersion(version: number): void;
/** The database holds the data of a build from before the first release, whose schema is not carried over. */
export declare class EarlierBuildError extends Error {
    constructor();
}
/**
 * Brings the schema up to date. Concurrent starters wait for one another on an advisory lock. Throws where the
 * server is older than PostgreSQL 15, and EarlierBuildError.
 */
export declare function migrate(connectionString: string, logger: Logger): Promise<void>;
/**
 * Answers a check that rejects while PostgreSQL is older than 15 or lacks a migration this program needs, as after
 * the restore of an old dump. Migrations it does not know are no fault: in a rolling upgrade a newer program has
 * been here, and migrations leave the previous version working.
 */
export declare function schemaCheck(db: Database): () => Promise<void>;
