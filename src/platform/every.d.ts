import type { Logger } from './logger.js';
/**
 * Runs a task again and again, never twice at once. A failure is logged and the next turn comes as usual. A task may
 * resolve with the milliseconds until its next turn, if that is to come at another time.
 */
export declare function every(intervalMs: number, name: string, logger: Logger, task: () => Promise<number | void>): {
    stop(): Promise<void>;
};
