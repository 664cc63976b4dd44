import type { Database } from '../../platform/database/postgres.js';
/** A shipment that may have come to its end. */
export interface Candidate {
    shipmentId: string;
    lastStateAt: Date;
    /** Nothing is left to erase of it. */
    erased: boolean;
}
/**
 * The next shipments, in the order of their acceptance, that were accepted longer ago than the retention: their ids tell
 * when. A shipment that has no state is not among them; it gets one within seconds.
 */
export declare const nextAccepted: (db: Database, retentionMs: number, limit: number) => Promise<Candidate[]>;
/** Of the shipments that are looked at again, those whose time has come; without a row of their own they are gone. */
export declare const nextAgain: (db: Database, retentionMs: number, limit: number) => Promise<Candidate[]>;
/** Those of `looked` that are done with need not be looked at again; the others do, and the walk goes on behind `last`. */
export declare function saveLooked(db: Database, looked: Candidate[], done: ReadonlySet<string>, last: string | null): Promise<void>;
