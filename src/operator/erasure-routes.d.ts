import type { MarkedShipment } from '../events/erasure-store.js';
import { type Route } from '../http/route.js';
import type { Database } from '../platform/database/postgres.js';
export interface ErasureRouteDependencies {
    db: Database;
    /** Creates an accepted shipment, unless it is created already. */
    create(shipmentId: string): Promise<unknown>;
    /** Erases a shipment that is created. */
    erase(shipmentId: string): Promise<MarkedShipment[]>;
}
export declare function erasureRoutes(deps: ErasureRouteDependencies): Route[];
