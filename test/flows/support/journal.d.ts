import { type Receiver } from '../../receiver.js';
/** How a request is answered: `reset` breaks the connection instead. */
export interface Behaviour {
    status?: number;
    delayMs?: number;
    reset?: boolean;
    retryAfterSeconds?: number;
}
/** One request as the receiver saw it. Times are of Date.now(); `statusCode` is null where it broke the connection. */
export interface Entry {
    id: string;
    attempt: number;
    sequence: number;
    trackingId: string;
    state: string;
    arrivedAt: number;
    /** Null while it is not answered. */
    endedAt: number | null;
    statusCode: number | null;
    retryAfterMs: number;
    /** Another request of its shipment was not answered yet when it came. */
    overlaps: boolean;
}
export interface Journal {
    receiver: Receiver;
    entries: Entry[];
}
/** A receiver that keeps a journal; `behave` decides each answer, `earlier` are the requests of the same notification. */
export declare function startJournal(behave: (entry: Entry, earlier: Entry[], count: number) => Behaviour): Promise<Journal>;
/** The requests of one notification by attempt; one that broke on a kept connection may have two of the same number. */
export declare function attemptsOf(entries: Entry[], id: string): Entry[][];
/** The sequence numbers of a shipment in the order in which they first came. */
export declare const firstArrivals: (entries: Entry[], trackingId: string) => number[];
