import fc from 'fast-check';
import type { Behaviour } from './journal.js';
export declare const catalogue: import("../../../src/shipments/states.js").StateCatalogue;
/** What happens to some shipments after their creation, and how their receiver behaves. */
export interface Scenario {
    shipments: number;
    /** State events in the order recorded, in the requests that report them. */
    requests: {
        events: {
            shipment: number;
            state: string;
        }[];
        pauseMs: number;
    }[];
    behaviours: Behaviour[];
}
/** Random walks of several shipments through the catalogue, mixed, in requests of one to ten events. */
export declare const scenario: fc.Arbitrary<Scenario>;
