import { type HandOver, type Room } from '../../../src/deliveries/outbox/hand-over.js';
import type { Claim, Settlement } from '../../../src/deliveries/outbox/types.js';
import { type RecordDependencies } from '../../../src/events/record.js';
import type { Database } from '../../../src/platform/database/postgres.js';
import { type World } from './world.js';
export declare const leaseMs = 10000;
export declare const longHoldMs = 3600000;
export declare const terminalStates: string[];
/** Collects what a statement that records has claimed for this process. */
export interface Collector extends HandOver {
    claims: Claim[];
}
export declare function collector(room?: Room): Collector;
/** Room for everything. */
export declare const muchRoom: Room;
export declare const recording: (db: Database, handOver: HandOver, orderHoldMs: number) => RecordDependencies;
/** Records the next states of a shipment in one statement; the claims made for this process. */
export declare function record(db: Database, shipmentId: string, states: string[], options?: {
    room?: Room;
    orderHoldMs?: number;
}): Promise<Claim[]>;
/** Claims what is due of a webhook, or of several. */
export declare const pull: (db: Database, webhookIds: string | string[], room?: number) => Promise<Claim[]>;
type Outcome = Settlement['status'];
export declare const settlementOf: (claim: Claim, status: Outcome, delayMs?: number) => Settlement;
/** Records outcomes and sees to what follows, as a worker does. Returns the claims whose outcome counted. */
export declare function finish(db: Database, claims: Claim[], status: Outcome, options?: {
    delayMs?: number;
    orderHoldMs?: number;
}): Promise<Claim[]>;
/** A sweeper, and the claims of the probes it lets through. */
export declare function createSweeper(db: Database, orderHoldMs?: number): {
    sweep(): Promise<void>;
    probes: Claim[];
    looked: Set<string>;
};
/** Lets the leases of all claims run out, as if their workers had died long ago. */
export declare function lapse({ sql }: World): Promise<void>;
/** Sends what is left as a healthy worker beside a sweeper would, until nothing is owed. Returns what succeeded. */
export declare function drain(world: World, rounds?: number): Promise<Claim[][]>;
export {};
