/** Which Node process looks after the server: starts it, supervises it and stops it at its own end. */
export interface Ownership {
    /** Takes the ownership if nobody alive has it; true if it is ours now. Cheap enough to ask often. */
    claim(): boolean;
    isMine(): boolean;
    release(): void;
}
/** Ownership is a file that names a process; it counts only while that process lives. */
export declare function ownershipIn(file: string): Ownership;
/** True also for a process that belongs to somebody else, and for one that has died but is not reaped. */
export declare function exists(pid: number): boolean;
/** What Linux says of a process; undefined elsewhere, or if it is gone. */
export declare function processStat(pid: number): {
    name: string;
    state: string;
    startedAt: string;
} | undefined;
