import type { ShipmentHead } from '../events/store.js';
import type { Answer } from '../http/envelope.js';
import type { Metrics } from '../platform/metrics.js';
import type { Database } from '../platform/database/postgres.js';
import type { Admission } from './admission.js';
import { type DropoffLocation, type Order } from './order.js';
export type AcceptOrder = (shipperId: string, order: Order, idempotencyKey: string | undefined) => Promise<Answer>;
/**
 * Accepts orders: accepted means committed. Concurrent requests share one statement. `onAccepted` is told
 * after the commit and not waited for: an order it loses is found by the sweeper. Orders take their turns at the
 * `admission`: what is owed goes before what is asked for.
 */
export declare function createAcceptOrder(deps: {
    db: Database;
    dropoffLocations: DropoffLocation[];
    /** Resolves when the order has had its share of this process. */
    onAccepted(order: ShipmentHead): Promise<void>;
    admission: Admission;
    metrics: Metrics;
}): AcceptOrder;
