import { type RunningProcess } from './process.js';
export { operatorToken, startProcess, stopProcess, type RunningProcess } from './process.js';
export type Backend = 'postgres' | 'redis';
/**
 * The queue backends that can be tested here; `npm test` says so where Redis is missing. A file made of
 * `describe.each(backends)` alone runs once for each of them, side by side (jest.config.js).
 */
export declare const backends: Backend[];
export interface Service {
    url: string;
    /** The service's own database, for looking at rows. */
    sql<Row = Record<string, unknown>>(text: string, values?: unknown[]): Promise<Row[]>;
    /** The environment it runs with, for starting another process of the same deployment. */
    env: Record<string, string>;
    process: RunningProcess;
    stop(): Promise<void>;
}
/** A deployment with its own database and queue prefix, and one process (role `all`) of the built service. */
export declare function startService(options?: {
    backend?: Backend;
    env?: Record<string, string>;
    role?: string;
}): Promise<Service>;
