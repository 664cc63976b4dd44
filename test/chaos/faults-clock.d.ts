import type { Fault } from './fault.js';
/** F16: the service's own clock; PostgreSQL's, by which it says what is due, stays right. */
export declare const wrongClock: Fault;
