export interface PostgresServer {
    /** A database of the bench's own, as superuser. */
    connectionString: string;
    pid: number;
    version: string;
    /** Whether pg_stat_statements counts. */
    hasStatements: boolean;
    stop(): Promise<void>;
}
/** The embedded PostgreSQL, or the one whose programs are in `binDir`, on an empty folder, every commit on disk. */
export declare function startPostgres(folder: string, binDir: string | undefined, withStatements: boolean): Promise<PostgresServer>;
