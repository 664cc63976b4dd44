import type { Database } from '../platform/database/postgres.js';
import { type Actor } from './audit/audit.js';
import { type Shipper } from './shipper-store.js';
export interface ShipperChanges {
    name?: string | undefined;
    status?: 'ACTIVE' | 'SUSPENDED' | undefined;
}
/** What becomes of a shipper's webhooks with it; to be called in the transaction that changes the shipper. */
export interface ShippersWebhooks {
    suspend(tx: Database, shipperId: string): Promise<void>;
    resume(tx: Database, shipperId: string): Promise<void>;
    remove(tx: Database, shipperId: string): Promise<void>;
}
/** Renames, suspends, resumes. 404 without that shipper, or where it is removed. */
export declare const updateShipper: (db: Database, webhooks: ShippersWebhooks, actor: Actor, shipperId: string, changes: ShipperChanges) => Promise<{
    shipper: Shipper;
    statusChanged: boolean;
}>;
/**
 * No request and no send from now on; what is left of it goes later. Again for one that is removed, it does nothing.
 * 404 without that shipper.
 */
export declare const removeShipper: (db: Database, webhooks: ShippersWebhooks, actor: Actor, shipperId: string) => Promise<void>;
/** A new account key; the one before, and the tokens that were got with it, are good for `overlapMs`. */
export declare const rotateAccountKey: (db: Database, actor: Actor, shipperId: string, overlapMs: number) => Promise<{
    accountKey: string;
    previousKeyValidUntil: Date;
}>;
