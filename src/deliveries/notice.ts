import type { Logger } from '../platform/logger.js';
import type { Metrics } from '../platform/metrics.js';
import type { Database } from '../platform/postgres.js';
import type { Outcomes, Transition } from './circuit.js';
import {
  disableWebhooks,
  lockHopeless,
  seemsHopeless,
  updateCircuits,
  type Doomed,
} from './circuit-store.js';
import type { DeliveryQueue, DueDelivery } from './enqueue.js';
import { recordNotices, type Notice } from './notice-store.js';

export interface NoticeDependencies {
  db: Database;
  queue: Pick<DeliveryQueue, 'enqueue'>;
  logger: Logger;
  metrics: Metrics;
}

/** Disables the active webhooks that answered 410, unless their address has been changed since, and tells their owners. */
export async function disableGone(deps: NoticeDependencies, gone: Doomed[]): Promise<void> {
  await changeAndTell(deps, (tx) => disable(tx, gone, 'GONE'));
}

/** After `days` without one success a webhook is disabled and its owner told (contract, section 5). */
export async function disableHopeless(deps: NoticeDependencies, days: number): Promise<void> {
  if (!(await seemsHopeless(deps.db, days))) return;
  await changeAndTell(deps, async (tx) => {
    const hopeless = await lockHopeless(tx, days);
    return disable(
      tx,
      hopeless.map((webhookId) => ({ webhookId, targetAddress: null })),
      'FAILING',
    );
  });
}

async function disable(tx: Database, doomed: Doomed[], reason: 'GONE' | 'FAILING'): Promise<Notice[]> {
  const disabled = await disableWebhooks(tx, doomed, reason);
  return disabled.map(({ webhookId }) => ({ webhookId, state: 'WEBHOOK_DISABLED', reason }));
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
