/** A server process as it describes itself in its data folder. */
export interface Postmaster {
    pid: number;
    port: number;
    /** `starting`, `ready` or `stopping`; empty before it gets that far. */
    status: string;
}
/** The server that runs on this data folder, or undefined: what a dead one left behind does not count. */
export declare function findPostmaster(cluster: string): Postmaster | undefined;
/**
 * PostgreSQL itself sees through a lock file whose process is gone, but not when the number belongs to another
 * process by now or to a zombie that nobody reaps (both usual in containers). Then the file is removed.
 */
export declare function clearStaleLock(cluster: string): void;
/** True while that process lives and is the server of this data folder. */
export declare function isPostmaster(pid: number, cluster: string): boolean;
