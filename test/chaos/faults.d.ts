import type { Fault } from './fault.js';
/** The faults of this bench by name; F10 is not among them (see docs/faults.md). */
export declare const faults: Fault[];
