import type { Deployment } from './deployment.js';
import type { SentLog } from './requests.js';
/** Times of the receipts owed for a load. */
export interface Receipts {
    /** From the sending to the first arrival, one for each notification. */
    fromSentMs: number[];
    /** From the API's answer. */
    fromAnswerMs: number[];
    firstSentAt: number;
    lastAnsweredAt: number;
    lastArrivedAt: number;
    /** Unlike the arrival where the receiver failed at first. */
    lastDeliveredAt: number;
}
/**
 * Waits until every notification of the load was taken by its receiver, on each of `paths`. Throws where some are
 * missing and none has come for half a minute.
 */
export declare function awaitReceipts(d: Deployment, sent: SentLog, paths: string[]): Promise<Receipts>;
/** Waits until the log of the account knows of nothing that is still owed, so that the next load begins at rest. */
export declare function untilSettled(d: Deployment): Promise<void>;
