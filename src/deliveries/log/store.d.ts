import type { Database } from '../../platform/database/postgres.js';
import { type Attempt } from './attempts.js';
import { type LogFilter, type LogRow } from './page-store.js';
export interface Delivery extends Omit<LogRow, 'waitsTurn'> {
    heldBy: string | null;
    /** When an open circuit lets the next probe through. */
    nextProbeAt: Date | null;
}
/** A page of the shipper's log, newest first: the newer pieces of its time before the older ones, until it is full. */
export declare function listDeliveries(db: Database, shipperId: string, filter: LogFilter, beforeId: string | undefined, limit: number): Promise<Delivery[]>;
/** The delivery with a page of its attempts, the newest first: one statement, so that the two fit together. */
export declare function findDelivery(db: Database, shipperId: string, deliveryId: string, beforeAttempt?: number): Promise<(Delivery & {
    payload: string;
    attempts: Attempt[];
}) | null>;
