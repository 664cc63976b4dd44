import { type ShippersWebhooks } from '../accounts/shippers.js';
import { type Route } from '../http/route.js';
import type { Database } from '../platform/database/postgres.js';
export interface ShipperDependencies {
    db: Database;
    webhooks: ShippersWebhooks;
    /** Resolves when no send to webhooks that were stopped just now can start any more. */
    onStopped(): Promise<void>;
    onResumed(shipperId: string): Promise<void>;
    /** What this process knows of who may call is out of date. */
    onChanged(): void;
}
/** Shippers after their registration (contract, section 6). */
export declare function shipperRoutes(deps: ShipperDependencies): Route[];
