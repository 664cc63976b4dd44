/** The circuit breaker of one webhook as all workers share it (contract, section 5). */
export interface Circuit {
    windowStartedAt: Date;
    attempts: number;
    failures: number;
    failingSince: Date | null;
    lastSuccessAt: Date | null;
    /** Null while closed. */
    openUntil: Date | null;
    timesOpened: number;
}
/** What happened since the last look. `probe` is the outcome of the probe of an open circuit, if it was sent. */
export interface Outcomes {
    attempts: number;
    failures: number;
    /** How long ago the last success was; null if none was. */
    succeededAgoMs: number | null;
    probe: 'SUCCEEDED' | 'FAILED' | null;
    /** How long the receiver asked the probe to leave it alone, 0 if it did not. */
    retryAfterMs: number;
}
export type Transition = 'OPENED' | 'CLOSED' | null;
export interface CircuitTimes {
    windowMs: number;
    firstWaitMs: number;
    longestWaitMs: number;
}
export declare const newCircuit: (now: Date) => Circuit;
/**
 * Opens where of at least 10 attempts within a minute at least 90 % failed: not called for 30 s, doubling to 10 m
 * with each probe that fails, or longer where the probe's answer asks for that (Retry-After). A probe that succeeds
 * closes it. Attempts that were under way when it opened change nothing but the time of the last success.
 */
export declare function applyOutcomes(before: Circuit, outcomes: Outcomes, now: Date, times: CircuitTimes): {
    circuit: Circuit;
    transition: Transition;
};
