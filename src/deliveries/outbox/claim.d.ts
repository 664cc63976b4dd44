import type { Database } from '../../platform/database/postgres.js';
import type { Claim } from './types.js';
/** A webhook whose lane has room, and from which moment on it is worth looking; null: from the beginning. */
export interface Wanted {
    webhookId: string;
    room: number;
    since: Date | null;
}
export type PulledClaim = Claim & {
    dueAt: Date;
};
/**
 * Claims what is due of each webhook, the longest due first, as far as there is room: one statement for all, waiting
 * for nobody. Left out are webhooks that are not active or have an open circuit. A claim counts the attempt and leases
 * it; it changes nothing that an index mentions.
 */
export declare function pullDue(db: Database, wanted: Wanted[], leaseMs: number): Promise<PulledClaim[]>;
/** Claims the longest due delivery of each open circuit whose wait is over, as its probe: one at a time. */
export declare function claimProbes(db: Database, leaseMs: number, probeMs: number): Promise<Claim[]>;
/** Gives claims back that were not sent: the attempt does not count. */
export declare function giveBack(db: Database, claims: Claim[]): Promise<void>;
/** Prolongs the leases of attempts under way. */
export declare function renewLeases(db: Database, claims: Claim[], leaseMs: number): Promise<void>;
