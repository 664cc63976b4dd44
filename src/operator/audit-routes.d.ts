import { type Route } from '../http/route.js';
import type { Database } from '../platform/database/postgres.js';
/** Who changed which account, webhook or secret (contract, section 6). */
export declare function auditRoutes({ db }: {
    db: Database;
}): Route[];
