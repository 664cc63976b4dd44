import type { HandOver } from '../deliveries/outbox/hand-over.js';
import { ApiError } from '../platform/errors.js';
import type { Metrics } from '../platform/metrics.js';
import { type Database } from '../platform/database/postgres.js';
import { type StateEvent } from './notification.js';
import { type ShipmentHead } from './store.js';
/**
 * A state event and the shipment it belongs to: by its id, its tracking id, or as it is known from its order, which
 * saves looking it up.
 */
export type NewEvent = StateEvent & ({
    shipmentId: string;
} | {
    trackingId: string;
} | {
    order: ShipmentHead;
});
/** The event's id (the caller's own where it sent one), or why it was refused. */
export type RecordResult = {
    eventId: string;
} | ApiError;
export interface RecordDependencies {
    db: Database;
    /** Whether a shipment may go from one state to another; `from` is null before it is created. */
    allows(from: string | null, to: string): boolean;
    /** Never superseded. */
    terminalStates: string[];
    leaseMs: number;
    orderHoldMs: number;
    /** Gets what is owed, after the commit; never waited for. */
    handOver: HandOver;
    metrics: Pick<Metrics, 'eventsRecorded' | 'fannedOut' | 'batchSize'>;
}
/**
 * Records state events with everything that is owed for them, many in one statement. Events of one shipment
 * are taken in the order given. Reading and writing are two statements; a shipment that another writer moved
 * between them is read again (optimistic concurrency). Throws where nothing was recorded; later, what cannot be
 * recorded any more is refused event by event, for what was committed before stays.
 */
export declare function recordEvents(deps: RecordDependencies, events: NewEvent[]): Promise<RecordResult[]>;
