import type { Logger } from '../platform/logger.js';
import type { Metrics } from '../platform/metrics.js';
import type { Database } from '../platform/postgres.js';
import type { Producer } from '../platform/queue.js';
import { findForgottenOrders } from './store.js';

const forgottenAfterMs = 5_000;
const ordersPerSweep = 2_000;
const shortQueueJobs = 50;

/** Gives orders a job again that were accepted and whose job never came, or was lost with the queue. */
export async function sweepOrders(deps: {
  db: Database;
  producer: Producer;
  enqueue(shipmentIds: string[]): void;
  logger: Logger;
  metrics: Metrics;
}): Promise<void> {
  if ((await deps.producer.waitingCount()) > shortQueueJobs) return;
  const forgotten = await findForgottenOrders(deps.db, forgottenAfterMs, ordersPerSweep);
  if (forgotten.length === 0) return;
  deps.logger.info({ orders: forgotten.length }, 'swept');
  deps.metrics.swept.inc({ kind: 'order' }, forgotten.length);
  deps.enqueue(forgotten);
}
