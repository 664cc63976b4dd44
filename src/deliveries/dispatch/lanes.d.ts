import type { Claim } from '../outbox/types.js';
/**
 * One webhook's lane: how many of its attempts may be under way in this process at once, and what waits for that. A slow
 * or dead receiver fills its own lane and nothing else.
 */
export interface Lane {
    readonly webhookId: string;
    /** Empty until its first claim tells. */
    shipperId: string;
    /** Attempts under way. */
    active: number;
    /** Places promised to a statement that is on its way. */
    reserved: number;
    /** Doubles with each quick attempt; a slow one sets it back. */
    limit: number;
    slow: boolean;
    /** Its last attempt that ended was quick: it will not keep a place for long. */
    proven: boolean;
    /** Claimed, and not started yet. */
    waiting: Claim[];
    /** Of the waiting, what was recorded just now. */
    waitingNew: number;
    /** Recorded just now and left in PostgreSQL for want of room, as far as is known. */
    left: number;
    /** PostgreSQL may hold more that is due. */
    mayHaveMore: boolean;
    /** A statement pulls for it now; `again` if it was told meanwhile that there is more. */
    pulling: boolean;
    again: boolean;
    /** Where the last page ended: before it there is nothing but what a late commit brought. */
    since: Date | null;
    /** When a page last began at the beginning; of performance.now(). */
    lastWholeAt: number;
}
export interface Lanes {
    of(webhookId: string): Lane;
    /** The lanes a shipper's webhooks have had so far. */
    ofShipper(shipperId: string): Lane[];
    /** Something of this shipper is claimed here, or promised to be. */
    holdsSome(shipperId: string): boolean;
    /** The lane belongs to a webhook of this shipper. */
    note(lane: Lane, shipperId: string): void;
    /** How many more this lane may hold, waiting ones included. */
    roomIn(lane: Lane): number;
    /** What a webhook may hold of which nothing is known yet. */
    readonly firstRoom: number;
    /** An attempt has ended after `durationMs`; null if none was made. */
    adapt(lane: Lane, durationMs: number | null): void;
    slowDown(lane: Lane): void;
    all(): Iterable<Lane>;
}
/** `concurrency`: attempts that may be under way in the process; one webhook gets half of them at most. */
export declare function createLanes(concurrency: number, slowMs: number): Lanes;
