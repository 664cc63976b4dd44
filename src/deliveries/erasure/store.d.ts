import type { Database } from '../../platform/database/postgres.js';
/** Webhooks for which a replay is under way that may bring back something of these shippers. */
export declare function findReplayed(db: Database, shipperIds: string[]): Promise<string[]>;
/**
 * Takes back what was asked for by hand of erased events, attempts under way included: their results are refused from
 * then on. What somebody has locked is left. Returns the deliveries of which an attempt was under way.
 */
export declare function takeBackAsked(db: Database, shipmentIds: string[]): Promise<string[]>;
/**
 * Cancels what is owed of erased events, also what is being sent: the result of that attempt is refused, so nothing a
 * receiver answers is kept, and the log has it as one whose outcome is unknown. What somebody has locked is left.
 */
export declare function cancelErased(db: Database, shipmentIds: string[], options: {
    leaseMs: number;
    byHand: string[];
}): Promise<void>;
/** Erases what receivers answered to notifications of erased events. */
export declare function eraseAnswers(db: Database, shipmentIds: string[]): Promise<void>;
/** Whether anything of erased events still is owed or asked for. */
export declare function isErasedOwed(db: Database, shipmentIds: string[]): Promise<boolean>;
