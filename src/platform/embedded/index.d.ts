import type { Logger } from '../logger.js';
/** A running PostgreSQL 18 of our own. */
export interface EmbeddedPostgres {
    /** Database `parcelhook` as its owner, who is no superuser; stays valid over restarts of the server. */
    connectionString: string;
    /** The same as the server's superuser, for what is done to the server itself. */
    superuserConnectionString: string;
    /** Ends the server if this process looks after it. Close all pools first; calling twice does no harm. */
    stop(): Promise<void>;
}
/**
 * Starts PostgreSQL on `<dataDir>/postgres`, or takes over the one that a killed process left behind. From
 * then on it is restarted on the same port whenever it dies. If another living process started it already,
 * that one keeps looking after it: this one only uses it, and inherits it should the other go.
 * Rejects with one Error that says what is wrong and what to do.
 */
export declare function startEmbeddedPostgres(options: {
    dataDir: string;
    logger: Logger;
}): Promise<EmbeddedPostgres>;
