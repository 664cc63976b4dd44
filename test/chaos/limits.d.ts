import type { Fault } from './fault.js';
/** What callers do to the service, besides the faults of its engines: they are in no mix. */
export declare const limitFaults: Fault[];
