import { auditAll, service } from '../../accounts/audit/audit.js';
import { describeError } from '../../platform/errors.js';
import type { Logger } from '../../platform/logger.js';
import type { Metrics } from '../../platform/metrics.js';
import type { Database } from '../../platform/database/postgres.js';
import type { Outcomes, Transition } from './rule.js';
import { disableWebhooks, lockHopeless, seemsHopeless, updateCircuits, type Doomed } from './store.js';
import type { Times } from '../times.js';
import { dueSinceUnknown, type Due } from '../outbox/hand-over.js';
import { recordNotices, type Notice } from './operational-events.js';

export interface TransitionDependencies {
  db: Database;
  times: Pick<Times, 'circuit'>;
  /** These webhooks have something due. */
  notify(due: Due[]): void;
  logger: Logger;
  metrics: Metrics;
}

/**
 * Disables the webhooks that answered 410, paused ones too, unless their address has been changed since, and tells
 * their owners.
 */
export async function disableGone(deps: TransitionDependencies, gone: Doomed[]): Promise<void> {
  await changeAndTell(deps, (tx) => disable(tx, gone, 'GONE'));
}

/** After `days` without one success a webhook is disabled and its owner told (contract, section 5). */
export async function disableHopeless(deps: TransitionDependencies, days: number): Promise<void> {
  if (!(await seemsHopeless(deps.db, days))) return;
  await changeAndTell(deps, async (tx) => {
    const hopeless = await lockHopeless(tx, days);
    return disable(
      tx,
      hopeless.map((webhookId) => ({ webhookId, storedAddress: null })),
      'FAILING',
    );
  });
}

/** Of the webhook, as its audit line names them. */
const fields = ['status', 'disabledReason'];

async function disable(tx: Database, doomed: Doomed[], reason: 'GONE' | 'FAILING'): Promise<Notice[]> {
  const disabled = await disableWebhooks(tx, doomed, reason);
  const entries = disabled.map((webhook) => ({ ...webhook, action: 'WEBHOOK_DISABLED' as const, fields }));
  if (entries.length > 0) await auditAll(tx, service, entries);
  return disabled.map(({ webhookId }) => ({ webhookId, state: 'WEBHOOK_DISABLED', reason }));
}

/**
 * Counts outcomes for the circuits of webhooks, and tells the owners of those that open or close. Resolves with the
 * webhooks whose circuit is open now.
 */
export async function countOutcomes(
  deps: TransitionDependencies,
  outcomes: Map<string, Outcomes>,
): Promise<string[]> {
  let open: string[] = [];
  await changeAndTell(deps, async (tx) => {
    const results = await updateCircuits(tx, outcomes, deps.times.circuit);
    open = results.flatMap(({ webhookId, isOpen }) => (isOpen ? webhookId : []));
    return results.flatMap(({ webhookId, transition }) => noticeOf(webhookId, transition) ?? []);
  });
  return open;
}

function noticeOf(webhookId: string, transition: Transition): Notice | null {
  if (transition === null) return null;
  return transition === 'OPENED'
    ? { webhookId, state: 'WEBHOOK_FAILING', reason: 'CIRCUIT_OPEN' }
    : { webhookId, state: 'WEBHOOK_RECOVERED', reason: null };
}

/** Commits a change with the notices of it; only then says so. */
async function changeAndTell(
  { db, notify, logger, metrics }: TransitionDependencies,
  change: (tx: Database) => Promise<Notice[]>,
): Promise<void> {
  let owing: string[] = [];
  const told = await db.transaction(async (tx) => {
    const about = await change(tx);
    if (about.length > 0) owing = await recordNotices(tx, about);
    return about;
  });
  for (const { webhookId, state, reason } of told) {
    logger.warn({ webhookId, notice: state, reason }, 'webhook');
    if (state === 'WEBHOOK_DISABLED') metrics.webhooksDisabled.inc({ reason: reason ?? '' });
    else metrics.circuitTransitions.inc({ to: state === 'WEBHOOK_FAILING' ? 'open' : 'closed' });
    if (state === 'WEBHOOK_RECOVERED') owing.push(webhookId); // what was held goes out
  }
  if (owing.length > 0) notify(dueSinceUnknown(owing));
}

const success: Outcomes = {
  attempts: 1,
  failures: 0,
  succeededAgoMs: 0,
  probe: 'SUCCEEDED',
  retryAfterMs: 0,
};

/**
 * A success outside the schedule shows that the receiver is back, as a probe's does: an open circuit closes, and the
 * days without one success are over. Never rejects.
 */
export async function reportSuccess(deps: TransitionDependencies, webhookId: string): Promise<void> {
  try {
    await countOutcomes(deps, new Map([[webhookId, success]]));
  } catch (error) {
    deps.logger.warn({ webhookId, error: describeError(error) }, 'success not counted');
  }
}
