import type { Logger } from '../../platform/logger.js';
import type { Metrics } from '../../platform/metrics.js';
import type { Database } from '../../platform/database/postgres.js';
import type { TransitionDependencies } from '../circuit/transitions.js';
import type { Times } from '../outbox/times.js';
import type { Claim } from '../outbox/types.js';
export interface SweeperOptions extends TransitionDependencies {
    db: Database;
    logger: Logger;
    metrics: Metrics;
    times: Times;
    orderHoldMs: number;
    deliveryTimeoutMs: number;
    /** These webhooks have something due that may be on its way. */
    check(webhookIds: string[]): void;
    /** Sends what is claimed already; `issuedAt` of performance.now(), before the statement was sent. */
    accept(claims: Claim[], issuedAt: number): void;
}
/**
 * Makes the queue disposable and every race harmless: walks over the outbox, page by page, and holds each row against
 * the truth. Any number of workers may sweep at once. Returns the sweep, to be run again and again.
 */
export declare function createSweep(options: SweeperOptions): () => Promise<void>;
