import type { Deployment } from './deployment.js';
/** What a load sent, on the clock of `now`. */
export interface SentLog {
    /** By tracking id: when it was sent first (or was due), and when it was taken. */
    times: Map<string, {
        sentAt: number;
        answeredAt: number;
    }>;
    /** How often the service asked to come again (429, 503). */
    refused: number;
}
/** Orders, the next of each client as soon as its last was answered. */
export declare const ordersClosedLoop: (d: Deployment, count: number, clients: number) => Promise<SentLog>;
/** Orders at a steady rate. */
export declare const ordersOpenLoop: (d: Deployment, perSecond: number, seconds: number) => Promise<SentLog>;
/** One state of every shipment, many in a request, a few requests at a time. */
export declare function eventsInBulk(d: Deployment, trackingIds: string[], state: string, eventsPerRequest: number, clients: number): Promise<SentLog>;
/** One state of every shipment, each in a request of its own, at a steady rate. */
export declare function eventsOpenLoop(d: Deployment, trackingIds: string[], state: string, perSecond: number): Promise<SentLog>;
