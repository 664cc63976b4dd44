import type { Logger } from '../platform/logger.js';
import type { Metrics } from '../platform/metrics.js';
import type { Database } from '../platform/postgres.js';
import type { Outcomes, Transition } from './circuit.js';
import { disableWebhooks, updateCircuits } from './circuit-store.js';
import type { DeliveryQueue, DueDelivery } from './enqueue.js';
import { recordNotices, type Notice } from './notice-store.js';

export interface NoticeDependencies {
  db: Database;
  queue: Pick<DeliveryQueue, 'enqueue'>;
  logger: Logger;
  metrics: Metrics;
}

/** Disables those of the webhooks that are active, and tells their owners, in one transaction. */
export async function disable(
  deps: NoticeDependencies,
  webhookIds: string[],
  reason: 'GONE' | 'FAILING',
): Promise<void> {
  await changeAndTell(deps, async (tx) => {
    const disabled = await disableWebhooks(tx, webhookIds, reason);
    return disabled.map(({ webhookId }) => ({ webhookId, state: 'WEBHOOK_DISABLED', reason }));
  });
}

/** Counts outcomes for the circuits of webhooks, and tells the owners of those that open or close. */
export async function countOutcomes(
  deps: NoticeDependencies,
  outcomes: Map<string, Outcomes>,
): Promise<void> {
  await changeAndTell(deps, async (tx) => {
    const results = await updateCircuits(tx, outcomes);
    return results.flatMap(({ webhookId, transition }) => noticeOf(webhookId, transition) ?? []);
  });
}

function noticeOf(webhookId: string, transition: Transition): Notice | null {
  if (transition === null) return null;
  return transition === 'OPENED'
    ? { webhookId, state: 'WEBHOOK_FAILING', reason: 'CIRCUIT_OPEN' }
    : { webhookId, state: 'WEBHOOK_RECOVERED', reason: null };
}

/** Commits a change with the notices of it; only then says so. */
async function changeAndTell(
  { db, queue, logger, metrics }: NoticeDependencies,
  change: (tx: Database) => Promise<Notice[]>,
): Promise<void> {
  let due: DueDelivery[] = [];
  const told = await db.transaction(async (tx) => {
    const about = await change(tx);
    if (about.length > 0) due = await recordNotices(tx, about);
    return about;
  });
  for (const { webhookId, state, reason } of told) {
    logger.warn({ webhookId, notice: state, reason }, 'webhook');
    if (state === 'WEBHOOK_DISABLED') metrics.webhooksDisabled.inc({ reason: reason ?? '' });
    else metrics.circuitTransitions.inc({ to: state === 'WEBHOOK_FAILING' ? 'open' : 'closed' });
  }
  queue.enqueue(due);
}
