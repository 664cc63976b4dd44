import { type Route } from '../http/route.js';
import type { Database } from '../platform/database/postgres.js';
import type { AcceptOrder } from './accept.js';
export declare function shipmentRoutes(deps: {
    db: Database;
    acceptOrder: AcceptOrder;
}): Route[];
