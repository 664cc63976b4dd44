import type { Database } from '../../platform/database/postgres.js';
import type { Holds } from './holds.js';
import { type TimeRange } from './range.js';
type DeliveryStatus = 'PENDING' | 'SENDING' | 'HELD' | 'SUCCEEDED' | 'FAILED' | 'CANCELLED';
export interface LogFilter {
    webhookId?: string | undefined;
    trackingId?: string | undefined;
    state?: string | undefined;
    status?: DeliveryStatus | undefined;
    from?: Date | undefined;
    to?: Date | undefined;
}
/** A delivery as the log shows it, but for what holds it. */
export interface LogRow {
    deliveryId: string;
    webhookId: string;
    targetAddress: string;
    eventId: string;
    trackingId: string | null;
    shipperTrackingId: string | null;
    state: string;
    status: DeliveryStatus;
    reason: string | null;
    waitsTurn: boolean;
    attemptCount: number;
    lastAttempt: {
        startedAt: string;
        durationMs: number | null;
        statusCode: number | null;
        errorCode: string | null;
    } | null;
    nextAttemptAt: Date | null;
    createdAt: Date;
    completedAt: Date | null;
}
/** What a piece of a page is looked for with. `beforeId` and later are on earlier pages. */
export interface PageQuery {
    shipperId: string;
    filter: LogFilter;
    range: TimeRange;
    beforeId: string | undefined;
    limit: number;
    holds: Holds;
}
/** The deliveries that fulfil a condition on the key, wherever they are. */
export declare const detailsOf: (condition: string, stopped: string, more?: string) => string;
/**
 * The newest matches of a range: of what is owed, and of the log. An index of the log leads to each kind of delivery
 * (its status and state) of a shipper or of a webhook, so the newest of every kind that the filter allows are read, and
 * of those the newest: the cost does not depend on how many match. All in one statement: what is settled meanwhile is
 * in one of the two.
 */
export declare function readPage(db: Database, query: PageQuery): Promise<LogRow[]>;
export {};
