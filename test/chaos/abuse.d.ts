import type { Fault } from './fault.js';
/** What clients do to the service (faults.md, B8 and B9). */
export declare const abuses: Fault[];
