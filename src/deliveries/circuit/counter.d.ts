import type { Logger } from '../../platform/logger.js';
import type { Outcomes } from './rule.js';
import type { Claim } from '../outbox/types.js';
/** Counts outcomes by webhook and tells the circuits, so that a healthy webhook costs no statement at all. */
export interface CircuitCounter {
    /** `retryAfterMs`: how long the receiver asked a probe to leave it alone, else 0. */
    note(claim: Claim, succeeded: boolean, retryAfterMs: number): void;
    /** Resolves when what was noted so far has been counted. */
    flushed(): Promise<void>;
}
export declare function createCircuitCounter(deps: {
    logger: Logger;
    /** How long a success weighs against a failure. */
    windowMs: number;
    countOutcomes(outcomes: Map<string, Outcomes>): Promise<void>;
}): CircuitCounter;
