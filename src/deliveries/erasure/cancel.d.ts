import type { Database } from '../../platform/database/postgres.js';
import type { Times } from '../outbox/times.js';
export interface ErasedShipment {
    shipmentId: string;
    shipperId: string;
}
/**
 * Cancels what is owed of events that this transaction, or one before, has erased, and erases what receivers answered.
 * It waits for replays of the shipper, which may have seen the events as they were, and passes over what others have
 * locked.
 */
export declare function cancelOnce(tx: Database, shipments: ErasedShipment[], leaseMs: number): Promise<void>;
/**
 * Resolves when nothing of the erased events is sent, owed or answered any more; to be called after the commit that
 * erased them. Who claimed one before that commit has sent it by the end of the wait, or never does; so what it is then
 * found to have claimed is taken from it before it can record an answer.
 */
export declare function untilNothingIsOwed({ db, times }: {
    db: Database;
    times: Times;
}, shipments: ErasedShipment[]): Promise<void>;
