import type { Database } from '../../platform/database/postgres.js';
/** An order as JSON. */
export interface OrderText {
    shipmentId: string;
    order: string;
}
export declare const findOrders: (tx: Database, shipmentIds: string[]) => Promise<OrderText[]>;
/**
 * Puts erased orders in the place of what they were. An idempotency key still answers with the order, whatever body it
 * comes with: the hash of the first one could be searched for a name or a phone number.
 */
export declare function saveErasedOrders(tx: Database, orders: OrderText[]): Promise<void>;
