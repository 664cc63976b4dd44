import type { Metrics } from '../../platform/metrics.js';
import type { Database } from '../../platform/database/postgres.js';
import type { HandOver } from '../outbox/hand-over.js';
import type { Targets } from '../outbox/targets.js';
import type { Times } from '../outbox/times.js';
import type { Claim } from '../outbox/types.js';
import { type SendingOptions } from '../send/request.js';
import { type RecorderOptions } from '../record/recorder.js';
export interface DispatcherOptions extends SendingOptions, Omit<RecorderOptions, 'look' | 'lookAhead' | 'wakeAt' | 'leisure'> {
    /** Claims, leases and what is done again if it is lost. */
    leaseDb: Database;
    metrics: Metrics;
    targets: Targets;
    times: Times;
    concurrency: number;
    /** Told of webhooks that others must see to, because this process stops. */
    onLeft(webhookIds: string[]): void;
}
export interface Dispatcher extends HandOver {
    /** As `look`, where it is known that it became due just now. */
    lookAhead(webhookIds: string[]): void;
    /** As `look`, but not again and again from the beginning. */
    check(webhookIds: string[]): void;
    /** Sends what is claimed already; `issuedAt` of performance.now(), before the claiming statement was sent. */
    accept(claims: Claim[], issuedAt: number): void;
    /**
     * Deliveries recorded just now beyond what their lanes begin at once, but not those of slow lanes, nor what is caught
     * up on; 0 while no attempt comes to an end, for then it is not this process they wait for.
     */
    pressure(): number;
    /** Claims nothing more; resolves when every attempt under way has been recorded. */
    drain(): Promise<void>;
}
/**
 * Sends and records. A claim is a lease in PostgreSQL on one attempt number: whatever happens to this process, the
 * sweeper takes the delivery up again when the lease has run out, and a late result is refused.
 */
export declare function createDispatcher(options: DispatcherOptions): Dispatcher;
