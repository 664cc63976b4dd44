import { type RecordDependencies } from '../events/record.js';
import type { ShipmentHead } from '../events/store.js';
import type { Logger } from '../platform/logger.js';
import type { Metrics } from '../platform/metrics.js';
import type { Database } from '../platform/database/postgres.js';
export type CreationDependencies = RecordDependencies & {
    initialState: string;
};
/**
 * Creates accepted shipments: the initial state, its event and the deliveries owed for it, in one commit. A
 * shipment that is created already (a job that came twice) is left as it is. Returns how many were created.
 */
export declare function createShipments(deps: CreationDependencies, orders: (string | ShipmentHead)[]): Promise<number>;
/** Creates what this process has accepted, many at once; resolves when it is created, or is left to the sweeper. */
export declare function createInProcess(deps: CreationDependencies & {
    logger: Logger;
}): (order: ShipmentHead) => Promise<void>;
/** Creates orders that were accepted and whose job never came, or was lost with the queue. */
export declare function sweepOrders(deps: {
    db: Database;
    create(shipmentIds: string[]): Promise<unknown>;
    logger: Logger;
    metrics: Metrics;
}): Promise<void>;
