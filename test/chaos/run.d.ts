import type { Figure } from '../bench/scenarios/scenario.js';
import type { Fault } from './fault.js';
import type { Violation } from './model.js';
import { type World } from './world.js';
export interface RunOptions {
    queue: string;
    seed: number;
    eventsPerSecond: number;
    /** Of load at least; it goes on until the fault is over. */
    seconds: number;
    /** Waits and counts of a fault are multiplied by it. */
    scale: number;
    /** Told of the deployment, so that it can be stopped from outside. */
    onStarted(world: World): void;
}
export interface Result {
    fault: string;
    promise: string;
    queue: string;
    seed: number;
    seconds: number;
    events: number;
    notifications: number;
    violations: Violation[];
    figures: Figure[];
    /** Why it could not be run here. */
    notRun?: string;
}
/** One fault against a deployment of its own. Null where it needs a Redis and there is none. */
export declare function run(fault: Fault, options: RunOptions): Promise<Result | null>;
