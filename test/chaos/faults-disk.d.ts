import type { Fault } from './fault.js';
/** F14: a disk that is full. */
export declare const diskFaults: Fault[];
