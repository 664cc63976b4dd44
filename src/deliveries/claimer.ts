import { createBatcher } from '../platform/batch.js';
import { describeError } from '../platform/errors.js';
import type { Logger } from '../platform/logger.js';
import type { Metrics } from '../platform/metrics.js';
import type { Database } from '../platform/postgres.js';
import type { DeliveryQueue, DueDelivery } from './enqueue.js';
import { releaseInTurn } from './order-store.js';
import { claimDeliveries, parkDeliveries, type Claim } from './store.js';
import { leaseMs, sweepAfterMs } from './timing.js';

export interface ClaimerOptions {
  leaseDb: Database;
  queue: Pick<DeliveryQueue, 'enqueue'>;
  logger: Logger;
  metrics: Metrics;
  orderHoldMs: number;
  /** Told of every claim as soon as it is made; `issuedAt` of performance.now(), before the statement was sent. */
  onClaimed(claim: Claim, issuedAt: number): void;
}

/** Claims deliveries, many in one statement. Resolves with null for what may not be sent now; that is parked. */
export function createClaimer(options: ClaimerOptions): (due: DueDelivery) => Promise<Claim | null> {
  const { leaseDb, logger, orderHoldMs } = options;

  /** What cannot be parked now is found again by the sweeper; the claims stand, and must be sent or given back. */
  const park = async (ids: string[]) => {
    try {
      const callable = await parkDeliveries(leaseDb, ids, orderHoldMs);
      options.queue.enqueue(await releaseInTurn(leaseDb, callable, orderHoldMs, sweepAfterMs));
    } catch (error) {
      logger.warn({ error: describeError(error) }, 'not parked');
    }
  };

  return createBatcher<DueDelivery, Claim | null>({
    maxItems: 200,
    concurrency: 2,
    maxWaiting: 10_000,
    onFlush: (items) => options.metrics.batchSize.observe({ batch: 'claims' }, items),
    flush: async (due) => {
      const issuedAt = performance.now();
      const claims = await claimDeliveries(leaseDb, due, leaseMs, orderHoldMs);
      for (const claim of claims) options.onClaimed(claim, issuedAt);
      const claimed = new Map(claims.map((claim) => [claim.deliveryId, claim]));
      const unclaimed = due.flatMap(({ deliveryId }) => (claimed.has(deliveryId) ? [] : [deliveryId]));
      if (unclaimed.length > 0) void park(unclaimed);
      // An id that came twice in one batch is one claim.
      return due.map(({ deliveryId }) => {
        const claim = claimed.get(deliveryId) ?? null;
        claimed.delete(deliveryId);
        return claim;
      });
    },
  }).add;
}
