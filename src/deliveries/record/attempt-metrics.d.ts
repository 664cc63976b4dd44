import type { Metrics } from '../../platform/metrics.js';
import type { Claim, Settlement } from '../outbox/types.js';
type Ended = Pick<Settlement, 'startedAt' | 'durationMs' | 'statusCode' | 'errorCode'>;
/** Counts an attempt that ended, whatever asked for it. */
export declare function noteAttempt(metrics: Metrics, claim: Claim, ended: Ended): void;
/** Counts what became of a delivery after a scheduled attempt. */
export declare function noteSettlement(metrics: Metrics, claim: Claim, { status, trigger }: Settlement): void;
export {};
