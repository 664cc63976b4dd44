import type { Lane } from './lanes.js';
/**
 * The bound on attempts under way in a process. Lanes whose receivers are slow have places of their own, so that they
 * never take all of them from the quick. Shippers take turns, and the lanes of each; those that have shown that they are
 * quick have three turns of four.
 */
export interface Places {
    /** The lane has something waiting: its turn will come. */
    queue(lane: Lane): void;
    /** Takes a place for the next lane that may start an attempt; null if none may. */
    next(): {
        lane: Lane;
        place: Place;
    } | null;
    give(place: Place): void;
    /** Places taken, of both kinds or of one. */
    inUse(kind?: Place): number;
    /** Places not taken, of the kind this lane needs. */
    freeFor(lane: Lane): number;
}
export type Place = 'quick' | 'slow';
export declare function createPlaces(size: number): Places;
