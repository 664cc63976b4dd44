import type { Logger } from '../../platform/logger.js';
import type { Database } from '../../platform/database/postgres.js';
import type { Times } from '../outbox/times.js';
import type { Claim } from '../outbox/types.js';
import type { Place } from './places.js';
/** A claim in this process. Times are of performance.now(); `issuedAt`, before the statement was sent. */
export interface InFlight {
    issuedAt: number;
    /** Null while it waits. */
    startedAt: number | null;
    /** Null while it waits, and after it gave its place to others. */
    place: Place | null;
}
/** The claims of this process: their leases are renewed, and slow attempts give up their places. */
export interface Attempts {
    begin(claim: Claim, issuedAt: number): void;
    start(claim: Claim, place: Place): InFlight;
    /** Returns the place to be given back, if it still has one. */
    end(claim: Claim): Place | null;
    count(): number;
    /** Gives nobody's place away any more. */
    stopWatching(): void;
    /** Renews no lease any more. */
    stop(): void;
}
export declare function createAttempts(options: {
    leaseDb: Database;
    logger: Logger;
    times: Times;
    /** Slow attempts that may have given up their places at once. */
    mostMoved: number;
    onSlow(claim: Claim, place: Place): void;
}): Attempts;
