import type { Logger } from '../../platform/logger.js';
import { mostRarely, pauseAfter } from '../../platform/every.js';
import type { Metrics } from '../../platform/metrics.js';
import type { Database } from '../../platform/database/postgres.js';
import type { TransitionDependencies } from '../circuit/transitions.js';
import { claimProbes } from '../outbox/claim.js';
import type { Times } from '../outbox/times.js';
import { distinctTurns, giveTurns } from '../outbox/turns.js';
import type { Claim, Unattended } from '../outbox/types.js';
import { cancelOwed, inspectPage, takeLapsed, type Position } from './store.js';

export interface SweeperOptions extends TransitionDependencies {
  db: Database;
  logger: Logger;
  metrics: Metrics;
  times: Times;
  orderHoldMs: number;
  deliveryTimeoutMs: number;
  /** These webhooks have something due that may be on its way. */
  check(unattended: Unattended[]): void;
  /** Sends what is claimed already; `issuedAt` of performance.now(), before the statement was sent. */
  accept(claims: Claim[], issuedAt: number): void;
}

const rowsPerPage = 20_000;
const cancelledPerSweep = 1_000;
const turnsPerStatement = 500;

/**
 * Makes the queue disposable and every race harmless: walks over the outbox, page by page, and holds each row against
 * the truth. Any number of workers may sweep at once. Returns the sweep, to be run again and again; it resolves with the
 * milliseconds until the next one. The pages of a long outbox follow each other sooner. Under an old snapshot even an empty
 * one is read for seconds: then the sweeps come more rarely.
 */
export function createSweep(options: SweeperOptions): () => Promise<number> {
  const { db, times, logger, metrics } = options;
  let after: Position | null = null;
  let spareUntil = 0;

  /**
   * After an outage a lease that ran out says nothing about its holder, who could not renew it; a crash may even have
   * forgotten the claim. For a while nothing is taken from those who have an outcome to record.
   */
  const inspect = () =>
    inspectPage(db, after, { ...times, orderHoldMs: options.orderHoldMs, limit: rowsPerPage }).catch(
      (error: unknown) => {
        spareUntil = performance.now() + times.sparedMs;
        throw error;
      },
    );

  const takeUp = async (): Promise<void> => {
    const { webhookIds, count } = await takeLapsed(db, after, { leaseMs: times.leaseMs, limit: rowsPerPage });
    if (count === 0) return;
    logger.info({ deliveries: count }, 'swept');
    metrics.swept.inc({ kind: 'delivery' }, count);
    options.look(webhookIds);
  };

  const probe = async (): Promise<void> => {
    const issuedAt = performance.now();
    const probeMs = options.deliveryTimeoutMs + times.leaseMs;
    options.accept(await claimProbes(db, times.leaseMs, probeMs), issuedAt);
  };

  return async () => {
    const startedAt = performance.now();
    const found = await inspect();
    const tookMs = performance.now() - startedAt;
    if (performance.now() > spareUntil) {
      if (found.lapsed) await takeUp();
      if (found.unattended.length > 0) options.check(found.unattended);
    }
    const turns = distinctTurns(found.stranded);
    for (let start = 0; start < turns.length; start += turnsPerStatement)
      options.look(await giveTurns(db, turns.slice(start, start + turnsPerStatement), options.orderHoldMs));
    for (const webhookId of found.deleted) await cancelOwed(db, webhookId, cancelledPerSweep);
    after = found.next;
    if (found.probes) await probe();
    return found.next
      ? pauseAfter(tookMs, 0, times.sweepEveryMs)
      : pauseAfter(tookMs, times.sweepEveryMs, mostRarely * times.sweepEveryMs);
  };
}
