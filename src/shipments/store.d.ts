import type { Database } from '../platform/database/postgres.js';
import type { DropoffLocation, Order } from './order.js';
/** An order as it is committed before the 201. */
export interface AcceptedOrder {
    shipmentId: string;
    shipperId: string;
    processId: string;
    trackingId: string;
    order: Order;
    dropoffLocation: DropoffLocation;
    acceptedAt: Date;
    /** Idempotency key and hash of the body it came with, where the caller sent one. */
    idempotency: {
        key: string;
        bodyHash: Buffer;
    } | null;
}
/**
 * Commits many orders in one statement. An order whose idempotency key is taken, by an earlier request or by
 * another of the same batch, is left out. Answers the shipmentIds that were stored.
 */
export declare function insertOrders(db: Database, orders: AcceptedOrder[]): Promise<Set<string>>;
export type EarlierOrder = Omit<AcceptedOrder, 'idempotency' | 'shipperId'> & {
    bodyHash: Buffer;
};
/** The order first accepted under an idempotency key in the last 24 hours. */
export declare function findByIdempotencyKey(db: Database, shipperId: string, key: string): Promise<EarlierOrder | null>;
/** Frees an idempotency key that is older than 24 hours. */
export declare function deleteExpiredIdempotencyKey(db: Database, shipperId: string, key: string): Promise<void>;
export interface TrackedShipment {
    trackingId: string;
    shipmentId: string;
    shipperTrackingId: string;
    state: string | null;
    /** The notifications of its events in the order recorded. */
    bodies: string[];
}
export declare function findTracking(db: Database, shipperId: string, trackingId: string): Promise<TrackedShipment | null>;
/** Orders accepted before `olderThanMs` ago whose shipment still is not created, oldest first. */
export declare function findForgottenOrders(db: Database, olderThanMs: number, limit: number): Promise<string[]>;
/** Deletes the idempotency keys older than 24 hours, in bounded pieces. */
export declare function dropExpiredKeys(db: Database): Promise<void>;
