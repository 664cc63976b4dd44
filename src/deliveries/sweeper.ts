import type { Logger } from '../platform/logger.js';
import type { Metrics } from '../platform/metrics.js';
import type { Database } from '../platform/postgres.js';
import { takeProbes } from './circuit-store.js';
import type { DeliveryQueue, DueDelivery } from './enqueue.js';
import { disableHopeless } from './notice.js';
import {
  cancelOpen,
  clearBacklogMarks,
  findBacklogs,
  releaseHeld,
  takeForgotten,
  takeLapsed,
} from './sweep-store.js';
import { leaseMs, quietMs, shortQueueJobs, sweepAfterMs } from './timing.js';

const forgottenPerSweep = 5_000;
const backlogPerSweep = 1_000;
const daysWithoutSuccess = 5;
/** Counts from the last sweep that failed, which may have been three seconds before PostgreSQL was back. */
const sparedMs = 7_000;
/** Longer than any statement may run: a fan-out that began before a webhook's change has committed by then. */
const backlogLingerMs = 30_000;

export interface SweeperDependencies {
  db: Database;
  queue: DeliveryQueue;
  logger: Logger;
  metrics: Metrics;
}

/**
 * Makes the queue disposable: what PostgreSQL knows to be due and nobody sees to gets a job again. Any number
 * of workers may sweep at once; each row is taken by one of them. Answers the sweep, to be run again and again.
 */
export function createDeliverySweep(
  deps: SweeperDependencies & { deliveryTimeoutMs: number; orderHoldMs: number },
): () => Promise<void> {
  const { db, queue } = deps;
  let spareUntil = 0;

  /**
   * After an outage a lease that ran out says nothing about its holder, who could not renew it; a crash may even have
   * forgotten the claim. For a while nothing is taken from those who have an outcome to record. PostgreSQL is asked
   * nevertheless, to notice whether the outage goes on.
   */
  const sparing = () => performance.now() < spareUntil;
  const lapsed = () =>
    takeLapsed(db, { leaseMs, quietMs, limit: sparing() ? 0 : forgottenPerSweep }).catch((error: unknown) => {
      spareUntil = performance.now() + sparedMs;
      throw error;
    });
  /** What merely waits is in the queue, unless the queue is nearly empty. */
  const forgotten = async () =>
    (await queue.waitingCount()) < shortQueueJobs && !sparing()
      ? takeForgotten(db, { quietMs, limit: forgottenPerSweep })
      : [];

  return async () => {
    for (const take of [lapsed, forgotten]) enqueueAgain(deps, await take());
    queue.enqueue(await takeProbes(db, deps.deliveryTimeoutMs + leaseMs, sweepAfterMs, deps.orderHoldMs));
    await disableHopeless(deps, daysWithoutSuccess);
    for (const { webhookId, backlog } of await findBacklogs(db)) await workOff(deps, webhookId, backlog);
    await clearBacklogMarks(db, backlogLingerMs);
  };
}

function enqueueAgain({ queue, logger, metrics }: SweeperDependencies, due: DueDelivery[]): void {
  if (due.length === 0) return;
  logger.info({ deliveries: due.length }, 'swept');
  metrics.swept.inc({ kind: 'delivery' }, due.length);
  queue.enqueue(due);
}

/** Takes the next piece of a webhook's backlog: released in the order of its events, or cancelled. */
export async function workOff(
  { db, queue }: Pick<SweeperDependencies, 'db' | 'queue'>,
  webhookId: string,
  backlog: 'RELEASE' | 'CANCEL',
): Promise<void> {
  if (backlog === 'CANCEL') await cancelOpen(db, webhookId, backlogPerSweep);
  // Paced by the queue: more is released when what was released has gone out.
  else if ((await queue.waitingCount()) < shortQueueJobs)
    queue.enqueue(await releaseHeld(db, webhookId, backlogPerSweep, sweepAfterMs));
}
