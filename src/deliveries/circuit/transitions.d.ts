import type { Logger } from '../../platform/logger.js';
import type { Metrics } from '../../platform/metrics.js';
import type { Database } from '../../platform/database/postgres.js';
import type { Outcomes } from './rule.js';
import { type Doomed } from './store.js';
import type { Times } from '../outbox/times.js';
export interface TransitionDependencies {
    db: Database;
    times: Pick<Times, 'circuit'>;
    /** These webhooks have something due. */
    look(webhookIds: string[]): void;
    logger: Logger;
    metrics: Metrics;
}
/** Disables the active webhooks that answered 410, unless their address has been changed since, and tells their owners. */
export declare function disableGone(deps: TransitionDependencies, gone: Doomed[]): Promise<void>;
/** After `days` without one success a webhook is disabled and its owner told (contract, section 5). */
export declare function disableHopeless(deps: TransitionDependencies, days: number): Promise<void>;
/** Counts outcomes for the circuits of webhooks, and tells the owners of those that open or close. */
export declare function countOutcomes(deps: TransitionDependencies, outcomes: Map<string, Outcomes>): Promise<void>;
/**
 * A success outside the schedule shows that the receiver is back, as a probe's does: an open circuit closes, and the
 * days without one success are over. Never rejects.
 */
export declare function reportSuccess(deps: TransitionDependencies, webhookId: string): Promise<void>;
