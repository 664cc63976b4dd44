import type { Figure } from '../bench/scenarios/scenario.js';
import type { World } from './world.js';
/**
 * How long it takes from now on until a job has come through every queue to every worker, and the API can use the queue:
 * what is due is delivered without, by the sweep, so that deliveries alone do not tell.
 */
export declare function flowsWithin({ service }: World, atMost: number): Promise<Figure>;
