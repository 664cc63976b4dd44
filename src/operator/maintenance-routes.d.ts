import { type Route } from '../http/route.js';
import type { Database } from '../platform/database/postgres.js';
export interface MaintenanceDependencies {
    db: Database;
    resealSecrets(): Promise<{
        resealed: number;
        unreadable: number;
    }>;
}
/** What an operator does to a running deployment. */
export declare function maintenanceRoutes({ db, resealSecrets }: MaintenanceDependencies): Route[];
