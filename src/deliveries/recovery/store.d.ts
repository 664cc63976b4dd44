import type { Database } from '../../platform/database/postgres.js';
import type { Turn } from '../outbox/types.js';
/** Where a page of the outbox ended. */
export interface Position {
    shipperId: string;
    deliveryId: string;
}
/** What a page of the outbox wants done. */
export interface Findings {
    /** Where the next page begins; null at the end. */
    next: Position | null;
    /** Some lease has run out. */
    lapsed: boolean;
    /** Webhooks that may be called and have something due that nobody sends. */
    unattended: string[];
    /** What waits for a turn that nobody will give it. */
    stranded: Turn[];
    /** Deleted webhooks that still are owed something. */
    deleted: string[];
    /** An open circuit may be probed, wherever its deliveries are. */
    probes: boolean;
}
/** Holds a page of the outbox, in the order of its key, against the truth. Changes nothing and waits for nobody. */
export declare function inspectPage(db: Database, after: Position | null, options: {
    unattendedAfterMs: number;
    orderHoldMs: number;
    limit: number;
}): Promise<Findings>;
/**
 * Takes up claims whose lease has run out, of the page that begins after `after`; their attempts are recorded without an
 * outcome. A test is over then, everything else is due again. Attempts by hand are left to those who made them.
 * Returns the webhooks and how many.
 */
export declare function takeLapsed(db: Database, after: Position | null, options: {
    leaseMs: number;
    limit: number;
}): Promise<{
    webhookIds: string[];
    count: number;
}>;
/** Cancels a page of what a deleted webhook is owed, but nothing that is being sent. Returns how many. */
export declare function cancelOwed(db: Database, webhookId: string, limit: number): Promise<number>;
/** Cancels a page of what has been owed for longer than the log is kept. Returns how many. */
export declare function cancelExpired(db: Database, retentionMs: number, limit: number): Promise<number>;
