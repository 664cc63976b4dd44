import { type Account } from '../client.js';
import type { AcceptedEvent } from './model.js';
export interface Load {
    /** Everything answered with 2xx so far. */
    accepted: AcceptedEvent[];
    /** Every single request: its answer (0: no answer) and how long that took. */
    answers: {
        kind: 'order' | 'event';
        isFirst: boolean;
        at: number;
        httpStatus: number;
        durationMs: number;
    }[];
    /** Begins nothing new; resolves with what was never accepted, soon after that time at most. */
    stop(giveUpAfterMs?: number): Promise<string[]>;
}
/**
 * A steady load of events, whatever the answers: new orders, and the next states of those that are on their way. What
 * is not accepted is sent again with the same idempotency key or event id until it is; a shipment that is not created
 * yet (409) waits in line again.
 */
export declare function startLoad(url: string, accounts: Account[], eventsPerSecond: number, seed: number): Load;
