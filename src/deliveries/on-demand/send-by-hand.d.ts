import type { Database } from '../../platform/database/postgres.js';
import { type TransitionDependencies } from '../circuit/transitions.js';
import type { Targets } from '../outbox/targets.js';
import type { Times } from '../outbox/times.js';
import type { AttemptRecord, Claim } from '../outbox/types.js';
import { type SendingOptions } from '../send/request.js';
export interface ByHandOptions extends SendingOptions, Omit<TransitionDependencies, 'times'> {
    targets: Targets;
    times: Times;
    /** How long a claim holds: no attempt by hand lasts longer, so its lease needs no renewal. */
    leaseMs: number;
}
/** It leaves time to record the outcome. */
export declare const byHandLeaseMs: (timeoutMs: number, { leaseMs }: Times) => number;
/**
 * Sends a claimed attempt outside the schedule and records it by `settle`. For the circuit its failure does not count.
 * Null if it could not be sent soon enough: whoever stops a webhook relies on that.
 */
export declare function sendByHand(options: ByHandOptions, claim: Claim, issuedAt: number, settle: (db: Database, attempt: AttemptRecord & {
    succeeded: boolean;
}) => Promise<boolean>): Promise<{
    settled: boolean;
    succeeded: boolean;
} | null>;
