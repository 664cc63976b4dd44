import type { Database } from '../platform/database/postgres.js';
export interface MarkedShipment {
    shipmentId: string;
    shipperId: string;
    /** When it was first. */
    erasedAt: Date;
}
/**
 * Marks shipments as erased, of those that have a state; with `quietMs` only those that came to none in that time. The
 * lock on each makes whoever records a state of it either be seen by the statements that follow, or see the mark.
 */
export declare function markErased(tx: Database, shipmentIds: string[], quietMs: number | null): Promise<MarkedShipment[]>;
/** Erases the notifications of shipments that are marked; those recorded after the mark hold nothing personal. */
export declare function eraseEvents(tx: Database, shipmentIds: string[]): Promise<void>;
