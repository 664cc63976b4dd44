import { type Room } from '../outbox/hand-over.js';
import type { Lanes } from './lanes.js';
export interface Reservations {
    reserve(shipperIds: string[]): Room;
    release(room: Room): void;
    /** Claims promised in all. */
    total(): number;
    readonly none: Room;
}
export interface ReservationsOptions {
    lanes: Lanes;
    /** Claims this process may still hold. */
    spare(): number;
    /** Claims it may hold beyond that for shippers of whom it holds none: nobody's backlog keeps others out. */
    forNewcomers: number;
}
/**
 * The room that statements on their way may fill. An event owes one delivery to a webhook at most, so no more than the
 * number of a shipper's events is promised to each of its lanes.
 */
export declare function createReservations({ lanes, spare, forNewcomers }: ReservationsOptions): Reservations;
