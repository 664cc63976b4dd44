import type { Fault } from './fault.js';
/** F18, F19: another engine takes over. */
export declare const failOverFaults: Fault[];
