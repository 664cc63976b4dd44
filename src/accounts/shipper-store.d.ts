import type { Database } from '../platform/database/postgres.js';
export type ShipperStatus = 'ACTIVE' | 'SUSPENDED' | 'REMOVED';
export interface Shipper {
    shipperId: string;
    name: string;
    status: ShipperStatus;
    createdAt: Date;
    /** Until when the account key before the last rotation is good; null without one. */
    previousKeyValidUntil: Date | null;
}
/** In the order of their registration, those after `afterId`. */
export declare const listShippers: (db: Database, status: ShipperStatus | undefined, afterId: string | undefined, limit: number) => Promise<Shipper[]>;
/** Removed ones included. */
export declare function shipperExists(db: Database, shipperId: string): Promise<boolean>;
/** The shipper, locked until the transaction ends; null without it, or where it is removed. */
export declare function lockShipper(tx: Database, shipperId: string): Promise<Shipper | null>;
/** A removal ends every token of the shipper. */
export declare function changeShipper(tx: Database, shipperId: string, changes: {
    name?: string | undefined;
    status?: ShipperStatus | undefined;
}): Promise<Shipper>;
/** Puts a new account key in place; the one before is good for `overlapMs`, and an older one no more. Until when. */
export declare function replaceAccountKey(tx: Database, shipperId: string, accountKeyHash: Buffer, overlapMs: number): Promise<Date>;
