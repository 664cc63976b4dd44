import { type Route } from '../http/route.js';
import type { Database } from '../platform/database/postgres.js';
/** Users after their registration (contract, section 6). `onChanged`: what this process knows of them is out of date. */
export declare function userRoutes({ db, onChanged }: {
    db: Database;
    onChanged(): void;
}): Route[];
