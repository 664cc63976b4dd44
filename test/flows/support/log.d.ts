import { type Account } from '../../client.js';
import { type Receiver, type Reply } from '../../receiver.js';
export interface LoggedDelivery {
    deliveryId: string;
    eventId: string;
    state: string;
    status: string;
    attemptCount: number;
    nextAttemptAt: string | null;
    completedAt: string | null;
    lastAttempt: {
        durationMs: number | null;
    } | null;
    attempts: Record<string, unknown>[];
}
export interface Hook {
    webhookId: string;
    secret: string;
    receiver: Receiver;
    /** How the receiver answers from now on. */
    answer: Reply;
    /** Deletes the webhook and stops its receiver. */
    close(): Promise<void>;
}
/** A webhook with a receiver of its own. */
export declare function startHook(account: Account, fields?: object): Promise<Hook>;
export declare function deliveriesOf(account: Account, webhookId: string): Promise<LoggedDelivery[]>;
/** How many of the webhook's deliveries the log shows in each status. */
export declare function countShown(account: Account, webhookId: string): Promise<Record<string, number>>;
/** The delivery with its attempts as soon as it is as described. */
export declare function untilDelivery(account: Account, deliveryId: string, matches: (delivery: LoggedDelivery) => boolean): Promise<LoggedDelivery>;
/** Waits until `look` finds something; rejects after twenty seconds. */
export declare function until<T>(look: () => Promise<T | null | undefined | false>): Promise<T>;
/** Places an order; its delivery to the webhook after the first attempt, or as soon as it is held. */
export declare function orderDelivered(account: Account, webhookId: string): Promise<string>;
