import type { Deployment } from './deployment.js';
import { type Details, type Figure } from './figures.js';
/** CPU time in microseconds: each role of the service, `PostgreSQL`, `Redis`; apart the receiver and the load. */
export type Cpu = Record<string, number>;
/** What a load cost everybody, from its start until nothing more was written for it. */
export interface Cost {
    seconds: number;
    cpuUs: Cpu;
    walBytes: number;
    fullPageImages: number;
    deadlocks: number;
    /** The highest of each role; of several workers, the largest one. */
    rssPeakBytes: Record<string, number>;
    details: Details;
}
export declare function cpuOf({ system, shape, processes, receiver }: Deployment, except: readonly number[]): Cpu;
export declare const cpuBetween: (before: Cpu, after: Cpu) => Cpu;
/** Of the system: everything but the receiver and the load. */
export declare const systemCpuUs: (cpu: Cpu) => number;
export declare function observe<T>(d: Deployment, load: () => Promise<T>): Promise<{
    result: T;
    cost: Cost;
}>;
export declare function costFigures(cost: Cost, deliveries: number): Figure[];
