/** Compares what was accepted with what arrived: the invariants of a run, each a pure function of its history. */
import type { History, Violation } from './model.js';
/** Every violation of a run. As many may come twice, or have an unknown outcome, as were `inFlight` at the fault. */
export declare function check(history: History, inFlight: number): Violation[];
