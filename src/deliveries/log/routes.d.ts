import { type Route } from '../../http/route.js';
import type { Database } from '../../platform/database/postgres.js';
export declare function deliveryRoutes({ db }: {
    db: Database;
}): Route[];
