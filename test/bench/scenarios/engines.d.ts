import { type BenchReceiver } from '../processes.js';
/** One process of role `all`, or an API and a worker: then memory and CPU of the worker are its own. */
export type Roles = 'all' | 'split';
export interface Deployment {
    /** Of the API. */
    url: string;
    /** The process with the worker's role. */
    workerPid: number;
    stop(): Promise<void>;
}
export interface Engines {
    receiver: BenchReceiver;
    /** Null where the queue is on PostgreSQL. */
    redis: {
        keys(): Promise<number>;
        usedMb(): Promise<number>;
    } | null;
    sql<Row = Record<string, unknown>>(text: string, values?: unknown[]): Promise<Row[]>;
    /** Starts the built service on these engines. */
    deploy(roles: Roles, env?: Record<string, string>): Promise<Deployment>;
    stop(): Promise<void>;
}
/** An empty embedded PostgreSQL, a Redis if asked for (null where none is installed), and a receiver. */
export declare function startEngines(queue: string): Promise<Engines | null>;
