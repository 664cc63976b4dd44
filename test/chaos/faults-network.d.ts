import type { Fault } from './fault.js';
/** F15: a proxy of our own before PostgreSQL and Redis. */
export declare const networkFaults: Fault[];
