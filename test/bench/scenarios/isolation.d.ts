import type { Bench } from './scenario.js';
export interface Isolation {
    /** Latencies in ms of the healthy ones of 100 webhooks under a steady load while those that `hangs` names hang. */
    phase(seconds: number, hangs: (webhook: number) => boolean): Promise<number[]>;
}
/** Each order is one delivery to each of its shipper's five webhooks. */
export declare function startIsolation(bench: Bench, ordersPerSecond: number): Promise<Isolation>;
