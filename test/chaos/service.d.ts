import { type RunningProcess } from '../process.js';
import type { Clocks } from './clock.js';
import type { Closing } from './engines.js';
export declare const retryScheduleMs: number[];
export declare const concurrency = 50;
/** Variables of the environment. */
type Settings = Record<string, string>;
/** What differs for the API from a usual deployment. */
export interface ApiSettings {
    env?: Record<string, string>;
    /** Its `ulimit -n`. */
    openFiles?: number;
}
export interface Service {
    url: string;
    /** The one that runs now. */
    api: RunningProcess;
    /** The oldest first. */
    workers: RunningProcess[];
    /** Ends a process on purpose; resolves with its exit code or signal, or 'late'. */
    end(running: RunningProcess, signal: NodeJS.Signals): Promise<number | string>;
    /** Processes that ended although nobody asked them to. */
    deserters(): string[];
    /** Another API on the same port: the one before must be gone. */
    startApi(settings?: Settings): Promise<void>;
    startWorker(settings?: Settings): Promise<RunningProcess>;
    /** Of all processes there have been. */
    output(): string;
}
/** One API on a port that stays, and workers. */
export declare function serviceOn(databaseUrl: string, redisUrl: string | undefined, dnsServer: string, clocks: Clocks | null, closing: Closing, api?: ApiSettings): Promise<Service>;
export {};
