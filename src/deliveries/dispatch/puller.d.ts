import type { Logger } from '../../platform/logger.js';
import type { Metrics } from '../../platform/metrics.js';
import type { Database } from '../../platform/database/postgres.js';
import { type PulledClaim } from '../outbox/claim.js';
import type { Lane, Lanes } from './lanes.js';
export interface PullerOptions {
    leaseDb: Database;
    logger: Logger;
    metrics: Metrics;
    lanes: Lanes;
    leaseMs: number;
    /** How many claims more this process may hold for this lane's sake, but for what statements under way may bring. */
    spareFor(lane: Lane): number;
    onClaimed(claims: PulledClaim[], issuedAt: number): void;
}
export interface Puller {
    /** PostgreSQL holds something due for these webhooks: it is pulled as soon as their lanes have room. */
    look(webhookIds: string[]): void;
    /** As `look`, where it is known that it became due just now: what lies before the last page is not looked at. */
    lookAhead(webhookIds: string[]): void;
    /** As `look`, but a busy lane begins at the beginning only now and then. */
    check(webhookIds: string[]): void;
    /** The lane may have room now. */
    offer(lane: Lane): void;
    /** Webhooks of which something may be due that was not pulled. */
    left(): string[];
    /** Pulls nothing more; resolves when no statement is under way. */
    stop(): Promise<void>;
}
/**
 * Fills lanes that have room with what PostgreSQL holds for them, page by page and one statement for many lanes: the
 * pace is the receivers'. Each page begins where the last one ended, for under an old snapshot the index is full of
 * entries of what is gone long since.
 */
export declare function createPuller(options: PullerOptions): Puller;
