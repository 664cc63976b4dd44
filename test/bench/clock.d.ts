/**
 * Milliseconds with fractions on the machine's monotonic clock: every process reads the same one, so a moment of the
 * receiver and one of the load can be compared, whatever the time of day is set to meanwhile.
 */
export declare function now(): number;
