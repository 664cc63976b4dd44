import type { Database } from '../../platform/database/postgres.js';
/** A page of rows of a shipper: how many of them went, and where the next page begins; null at the end. */
export interface Piece {
    deleted: number;
    next: string | null;
}
/** Deletes what is left of a page of a shipper's rows that begins behind `after`. What somebody has locked stays. */
export type DeletePiece = (tx: Database, shipperId: string, after: string, limit: number) => Promise<Piece>;
/** True for one transaction at a time. */
export declare function lockRemovals(tx: Database): Promise<boolean>;
/** A removed shipper; `isQuiet` where nothing of it was found that long ago. */
export declare function takeRemoved(tx: Database, quietMs: number): Promise<{
    shipperId: string;
    isQuiet: boolean;
} | null>;
export declare function markEmptied(tx: Database, shipperId: string, emptied: boolean): Promise<void>;
/** The last of it. */
export declare function deleteShipper(tx: Database, shipperId: string): Promise<void>;
export declare function countRemoved(db: Database): Promise<number>;
/** Webhooks are deleted as their owner would do it, so that nothing is owed to them from then on; and what is by hand. */
export declare const stopWebhooks: DeletePiece;
export declare const deleteOwed: DeletePiece;
export declare const deleteLogged: DeletePiece;
/** Orders that nobody has created: among those of all, which are few. */
export declare const deleteWaitingOrders: DeletePiece;
export declare const deleteKeys: DeletePiece;
/**
 * Events with the shipments they belong to. Whoever records a state of one of these shipments has locked its progress
 * before: so that is waited for first, in the order in which it is locked by all.
 */
export declare const deleteEvents: DeletePiece;
export declare const deleteWebhooks: DeletePiece;
export declare const deleteUsers: DeletePiece;
