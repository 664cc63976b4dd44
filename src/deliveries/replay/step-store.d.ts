import type { Database } from '../../platform/database/postgres.js';
import type { Turn } from '../outbox/types.js';
export interface ReplayTurn {
    replayId: string;
    webhookId: string;
    shipperId: string;
    shipmentId: string | null;
    deliveryStatus: string | null;
    lastEventId: string;
    endEventId: string;
    /** Deliveries it has set going so far. */
    done: number;
    webhookDeleted: boolean;
}
/** Whether some replay may go on. */
export declare function isAnyRipe(db: Database): Promise<boolean>;
/**
 * Takes the replay whose next piece has waited longest, for this transaction; another worker takes another one. Those of
 * suspended shippers wait.
 */
export declare function takeReplay(db: Database): Promise<ReplayTurn | null>;
/** Deliveries of the webhook that are due and not sent yet, counted up to `limit`. */
export declare function countDue(db: Database, webhookId: string, limit: number): Promise<number>;
export interface ReplayPiece {
    /** How far this piece got; null if there was nothing left to look at. */
    lastEventId: string | null;
    /** Deliveries it set going, those of a webhook that is not called now included. */
    sent: number;
    /** What of it goes one at a time. */
    turns: Turn[];
}
/**
 * Sets the next deliveries of a replay going, oldest event first: those that never were are made, the failed come back
 * from the log and begin their schedule anew, those that wait for a retry are due now, the held only get their trigger,
 * for they go out in their turn. Looks at no more than `scanLimit` events. To be called with the lock on the webhook's
 * moves: without it two replays could both bring the same delivery back.
 */
export declare function replayPiece(db: Database, turn: ReplayTurn, options: {
    scanLimit: number;
    sendLimit: number;
    retentionMs: number;
}): Promise<ReplayPiece>;
/** Another try later; what was cancelled meanwhile stays so. */
export declare function postponeReplay(db: Database, replayId: string, pauseMs: number): Promise<void>;
/** Notes how far a replay is, and when its next piece is due. */
export declare function saveProgress(db: Database, replayId: string, progress: {
    lastEventId: string | null;
    sent: number;
    status: 'RUNNING' | 'DONE' | 'CANCELLED';
    pauseMs: number;
}): Promise<void>;
