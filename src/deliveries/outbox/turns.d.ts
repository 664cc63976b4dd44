import type { Database } from '../../platform/database/postgres.js';
import type { Turn } from './types.js';
/**
 * Gives the turn to the next state of each shipment where nothing blocks it any more. To be asked after the commit that
 * may have unblocked it, and by who made something wait: a statement sees only what was committed before it began, so
 * either may have missed the other. Returns the webhooks that have something due now.
 */
export declare function giveTurns(db: Database, turns: Turn[], holdMs: number): Promise<string[]>;
/** A shipment's states for a webhook that wants overtaken ones skipped; those before `before` are, if it is given. */
export interface Overtaken extends Turn {
    before: number | null;
}
/**
 * Cancels what a later state has overtaken, but nothing that is being sent, and no terminal state. What is owed behind
 * it may go then: ask for their turns next.
 */
export declare function supersede(db: Database, turns: Overtaken[], terminalStates: string[]): Promise<void>;
/**
 * Makes wait what has an earlier state of its shipment before it, because that has come back. What is being sent stays
 * as it is. Ask for turns after the commit.
 */
export declare function holdTurns(db: Database, turns: Turn[], holdMs: number): Promise<void>;
/**
 * Makes the turns of a webhook anew after its `ordering` has changed: of each shipment the first state may go, or all.
 * What is being sent stays as it is. A page at a time: the backlog may be a million.
 */
export declare function remakeTurns(db: Database, webhookId: string): Promise<void>;
/** Each pair once, in the order in which rows are locked. */
export declare function distinctTurns<T extends Turn>(turns: T[]): T[];
