import type { Database } from '../../platform/database/postgres.js';
/** Which of a webhook's deliveries a replay catches up on. */
export interface ReplayRange {
    webhookId: string;
    shipperId: string;
    from: Date;
    /** Included. */
    to: Date;
    /** Only deliveries of this status; null for all that did not succeed and all that never were. */
    deliveryStatus: 'FAILED' | 'HELD' | 'PENDING' | null;
    trackingId: string | null;
}
/**
 * What a replay sends of a webhook's event: what never was owed, what failed, what is held, and what waits for a retry.
 * Needs `d` (the delivery in the log) and `o` (in the outbox), one of them or both null, whether webhook `w` is
 * `callable`, and the parameter with the status asked for.
 */
export declare const missed: (status: string) => string;
/** The delivery of event `e` to webhook `webhookId` in the log, as `d`, and in the outbox, as `o`. */
export declare const deliveryOf: (event: string, webhookId: string) => string;
/**
 * Records a replay and counts what it will send. Null without that webhook or, with a tracking id, without that
 * shipment; `tooMany` where the webhook has `limit` replays under way.
 */
export declare function insertReplay(db: Database, replayId: string, range: ReplayRange, limit: number): Promise<{
    total: number;
} | 'tooMany' | null>;
export interface Replay {
    replayId: string;
    webhookId: string;
    total: number;
    done: number;
    status: 'RUNNING' | 'DONE' | 'CANCELLED';
}
/** Replays under way and the newest of those that are over. */
export declare function listReplays(db: Database, limit: number): Promise<Replay[]>;
export declare function findReplay(db: Database, replayId: string): Promise<Replay | null>;
/** Ends a replay; what it has set going already goes on. Null if it is over already, or there is none. */
export declare function cancelReplay(db: Database, replayId: string): Promise<Replay | null>;
