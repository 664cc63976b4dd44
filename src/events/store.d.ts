import type { Room } from '../deliveries/outbox/hand-over.js';
import type { Database } from '../platform/database/postgres.js';
/** What a state event needs to know of its shipment. */
export interface ShipmentHead {
    shipmentId: string;
    shipperId: string;
    trackingId: string;
    shipperTrackingId: string;
    /** Null before it is created. */
    state: string | null;
    /** Events recorded so far. */
    sequence: number;
    /** Its personal data is erased. */
    erased: boolean;
}
export interface EventRow {
    eventId: string;
    externalId: string | null;
    shipperId: string;
    shipmentId: string;
    sequence: number;
    state: string;
    recordedAt: Date;
    body: string;
    /** The personal data of its shipment was erased before. */
    erased: boolean;
}
/** A shipment moves on from `fromSequence` to its last event; refused if another writer was faster, or it was erased since. */
export interface Move {
    shipmentId: string;
    shipperId: string;
    fromSequence: number;
    toSequence: number;
    state: string;
    erased: boolean;
}
/** One delivery owed for one of the events recorded. */
export interface Owed {
    deliveryId: string;
    webhookId: string;
    /** Its event, as it was passed. */
    event: EventRow;
    /** It is claimed by this process. */
    started: boolean;
    waitsTurn: boolean;
    revision: number;
    ordered: boolean;
    supersedes: boolean;
    troubled: boolean;
}
export declare function loadShipments(db: Database, shipmentIds: string[], trackingIds: string[]): Promise<ShipmentHead[]>;
export declare function findEventsByExternalId(db: Database, externalIds: string[]): Promise<Map<string, {
    shipmentId: string;
    state: string;
}>>;
/**
 * Moves shipments, records their events and everything owed for them: one statement, one commit. What finds room goes
 * into the outbox as claimed by this process, fair between webhooks; the rest is READY or waits its turn. Returns the
 * ids of the events recorded (those of shipments that somebody else moved meanwhile are missing) and what is owed.
 * Throws a unique violation where somebody else created one of the shipments meanwhile, or took a caller's event id.
 */
export declare function insertEvents(db: Database, moves: Move[], events: EventRow[], room: Room, options: {
    leaseMs: number;
    orderHoldMs: number;
}): Promise<{
    recorded: Set<string>;
    owed: Owed[];
}>;
