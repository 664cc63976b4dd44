/** CPU time a process has used so far with all its threads, in microseconds, to 10 ms. */
export declare const processCpuUs: (pid: number) => number;
/**
 * A PostgreSQL server's CPU so far: the postmaster, its children, and those of them that have ended. `except` names
 * the connections of the bench itself, which have to stay open while it is measured.
 */
export declare function postgresCpuUs(postmasterPid: number, except: readonly number[]): number;
