/** What becomes of a delivery after an attempt. `delayMs` counts from the moment the result is recorded. */
export type NextStep = {
    status: 'SUCCEEDED';
} | {
    status: 'FAILED';
} | {
    status: 'RETRY';
    delayMs: number;
};
export interface RetryInput {
    succeeded: boolean;
    /** Scheduled attempts that failed before this one: the position in the schedule. */
    earlierFailures: number;
    scheduleMs: readonly number[];
    /** The receiver's Retry-After header (RFC 9110 §10.2.3), as it came. */
    retryAfter: string | null;
    now: Date;
    /** Uniform in [0, 1). */
    random: number;
}
/** The retry schedule with ±10 % jitter; Retry-After delays the next attempt, never hastens it (contract, section 5). */
export declare function nextStep(input: RetryInput): NextStep;
/** Seconds or an HTTP date, at most 24 hours; anything else counts as none. */
export declare function retryAfterMs(header: string | null, now: Date): number;
