import type { Database } from '../../platform/database/postgres.js';
import type { AttemptRecord, Claim } from '../outbox/types.js';
/**
 * Asks for one attempt outside the schedule. False where the delivery may have none or is not the shipper's. The lock on
 * the event makes an erasure either prevent it or see that it was asked for.
 */
export declare function requestRedelivery(db: Database, shipperId: string, deliveryId: string): Promise<boolean>;
/** Whether what the delivery tells was erased. */
export declare function isErased(db: Database, shipperId: string, deliveryId: string): Promise<boolean>;
/** One at a time of those that move a webhook's deliveries between log and outbox; to be taken in a statement before. */
export declare function lockMoves(tx: Database, webhookIds: string[]): Promise<void>;
/**
 * Claims attempts that were asked for, also of webhooks that are not active if it was asked for since they are not;
 * none of a suspended shipper.
 * What is owed is marked as being sent, its schedule left as it is; what is finished stays where it is.
 */
export declare function claimRedeliveries(db: Database, deliveryIds: string[], leaseMs: number): Promise<Claim[]>;
/** Gives a claim back that was not sent; it stays asked for. */
export declare function giveRedeliveryBack(db: Database, claim: Claim): Promise<void>;
/**
 * Records an attempt by hand. A success ends the delivery; after a failure it is what it was before, its schedule
 * untouched. The attempt is the last one of what is finished. False if the claim was taken away meanwhile.
 */
export declare function settleRedelivery(db: Database, attempt: AttemptRecord & {
    succeeded: boolean;
}): Promise<boolean>;
/** Whether anything was asked for by hand that is not over. */
export declare function isAnythingAsked(db: Database): Promise<boolean>;
/** Attempts by hand that wait, the longest waiting first, of each webhook at most `perWebhook`. */
export declare function findWaiting(db: Database, perWebhook: number, limit: number): Promise<string[]>;
/** Drops what was asked for and may not be sent any more: cancelled, deleted, suspended, or stopped since. */
export declare function dropVoid(db: Database): Promise<void>;
/** Takes up attempts by hand whose process is gone: recorded without an outcome, they wait again. Returns how many. */
export declare function takeLapsedRedeliveries(db: Database, leaseMs: number, limit: number): Promise<number>;
