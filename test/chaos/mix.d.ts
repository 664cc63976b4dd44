import type { Fault } from './fault.js';
/**
 * F17: the others in an order that the seed decides, one after the other until the time is up, each at a quarter of
 * its length. Those that need engines of another kind are not among them.
 */
export declare function mix(others: Fault[]): Fault;
