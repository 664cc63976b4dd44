import type { Logger } from '../logger.js';
export interface MigrationRoleOptions {
    /** Its role runs the migrations and owns what they make. */
    migrationUrl: string;
    /** Its role may read and write, and owns nothing. */
    databaseUrl: string;
    /** Whether the queue's tables are in this database, too. */
    withQueue: boolean;
    logger: Logger;
}
/**
 * Brings the schema up to date under the role of `migrationUrl` and lets that of `databaseUrl` work with it. What the
 * latter owned until now is taken over. Safe for several processes at once, and beside others at work.
 */
export declare function migrateUnderOwnRole(options: MigrationRoleOptions): Promise<void>;
