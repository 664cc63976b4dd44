/** Runs `one` for 0 to `count - 1`, `clients` at a time, each the next as soon as its last has ended. */
export declare function closedLoop(count: number, clients: number, one: (n: number) => Promise<void>): Promise<void>;
/**
 * Runs `one` at a steady rate whatever becomes of those before. It is told the moment to count from: when it starts,
 * or when it should have started where it is later than timers are, so that no wait is left out of the figures.
 */
export declare function openLoop(perSecond: number, count: number, one: (n: number, fromAt: number) => Promise<void>): Promise<void>;
