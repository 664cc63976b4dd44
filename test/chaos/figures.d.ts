import type { Figure } from '../bench/scenarios/scenario.js';
import type { Outcome } from './fault.js';
/** p99 of all orders handed over while the fault lasted, whatever they were answered. */
export declare function answeredWithin(outcome: Outcome, atMost: number): Figure;
/** Orders answered otherwise than with 201 while the fault lasted. */
export declare function notAccepted(outcome: Outcome): Figure;
/** From each mark until a second begins in which half the pace is reached that there was before; the slowest. */
export declare function goesOnWithin({ history, from, marks }: Outcome, atMost: number): Figure;
/** From the last mark until each attempt whose outcome was lost had been made again. */
export declare function takenUpWithin({ history, marks }: Outcome, atMost: number): Figure;
/** From the last mark until all that was accepted before it had arrived where receivers are healthy. */
export declare function allThereWithin({ history, marks }: Outcome, atMost: number): Figure;
/** p99 from an event's acceptance to its first arrival where receivers are healthy, against that before the fault. */
export declare function othersUndisturbed({ history, from, to }: Outcome): Figure;
/** Deliveries a second while the fault lasted, as a share of those before it, missing from the whole. */
export declare function paceMissing({ history, from, to }: Outcome, atMost: number): Figure;
