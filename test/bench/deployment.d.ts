import { type Account } from '../client.js';
import { type BenchReceiver } from './processes.js';
import { type ServiceProcess } from './service-process.js';
import type { Shape } from './shapes.js';
import type { System } from './system.js';
/** A deployment of the service on a database of its own, with a receiver and an account. */
export interface Deployment {
    system: System;
    shape: Shape;
    databaseUrl: string;
    /** Of the API. */
    url: string;
    processes: ServiceProcess[];
    receiver: BenchReceiver;
    account: Account;
    /** Throws where a process of the service has ended. */
    check(): void;
}
export declare function serviceEnv(system: System, shape: Shape, databaseUrl: string): Record<string, string>;
/** Starts it all on empty engines, and clears it away when `use` has ended, however it has. */
export declare function withDeployment<T>(system: System, shape: Shape, use: (deployment: Deployment) => Promise<T>): Promise<T>;
/** An empty database; afterwards nothing of it is left for the server to do. */
export declare function withDatabase<T>(system: System, use: (databaseUrl: string) => Promise<T>): Promise<T>;
/** Registers one webhook for all states for each kind of answer (receiver.ts); their paths. */
export declare function registerWebhooks(deployment: Deployment, kinds: string[]): Promise<string[]>;
