import type { Fault } from './fault.js';
/** What webhooks may make the service call. */
export declare const egressFaults: Fault[];
