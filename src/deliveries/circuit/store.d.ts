import type { Database } from '../../platform/database/postgres.js';
import { type CircuitTimes, type Outcomes, type Transition } from './rule.js';
/**
 * Adds outcomes to the circuits of several webhooks, in a transaction under row locks, so that all workers count
 * together. Returns the transitions.
 */
export declare function updateCircuits(tx: Database, outcomes: Map<string, Outcomes>, times: CircuitTimes): Promise<{
    webhookId: string;
    transition: Transition;
}[]>;
/** A webhook set to ACTIVE by its owner begins anew; to be called before the change, in its transaction. */
export declare function forgetCircuit(tx: Database, shipperId: string, webhookId: string): Promise<void>;
/** All webhooks of a shipper begin anew; to be called before the change, in its transaction. */
export declare function forgetCircuits(tx: Database, shipperId: string): Promise<void>;
/** A webhook that is not to be called any more, if it still has that address; null: whatever its address is. */
export interface Doomed {
    webhookId: string;
    storedAddress: string | null;
}
/** Disables webhooks; returns those that were active until now. What is owed to them is held from then on. */
export declare function disableWebhooks(db: Database, doomed: Doomed[], reason: string): Promise<{
    webhookId: string;
}[]>;
/** Whether an active webhook seems to be without one success for `days` in which attempts were made. */
export declare function seemsHopeless(db: Database, days: number): Promise<boolean>;
/**
 * Active webhooks without one success for `days` in which attempts were made, locked against outcomes that are being
 * counted. An outcome may have been lost before it was counted; so what the log says is asked first.
 */
export declare function lockHopeless(tx: Database, days: number): Promise<string[]>;
