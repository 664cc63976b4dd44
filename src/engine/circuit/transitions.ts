import { describeError } from '../../platform/errors.js';
import type { Logger } from '../../platform/telemetry/logger.js';
import type { Metrics } from '../../platform/telemetry/metrics.js';
import type { Database } from '../../platform/database/postgres.js';
import type { Outcomes, Transition } from './circuit.js';
import {
  disableWebhooks,
  lockHopeless,
  isAnyHopeless,
  updateCircuits,
  recordNotices,
  type AutoDisableTarget,
  type DisabledReason,
  type Notice,
  type ResponseReason,
} from './store.js';
import type { Durations } from '../../platform/durations.js';
import type { Target } from '../send/targets.js';
import { dueSinceUnknown, type Due } from '../outbox/types.js';

export interface TransitionDependencies {
  db: Database;
  durations: Pick<Durations, 'circuit'>;
  notify(due: Due[]): void;
  logger: Logger;
  metrics: Metrics;
  /** Called in the transaction that disables the webhooks. */
  onDisabled(tx: Database, webhooks: Disabled[]): Promise<void>;
}

export interface Disabled {
  webhookId: string;
  shipperId: string;
}

/** Because of a response; even paused ones, unless their address has changed since. */
export async function disableByResponse(
  deps: TransitionDependencies,
  targets: AutoDisableTarget[],
  reason: ResponseReason,
): Promise<void> {
  await changeAndNotify(deps, (tx) => disable(deps, tx, targets, reason));
}

/** Disables webhooks that have failed for days, often enough (`verdict`). */
export async function disableFailing(deps: TransitionDependencies): Promise<void> {
  if (!(await isAnyHopeless(deps.db))) return;
  await changeAndNotify(deps, async (tx) => {
    const failing = await lockHopeless(tx);
    return disable(
      deps,
      tx,
      failing.map((webhookId) => ({ webhookId, storedAddress: null })),
      'FAILING',
    );
  });
}

async function disable(
  { onDisabled }: TransitionDependencies,
  tx: Database,
  targets: AutoDisableTarget[],
  reason: DisabledReason,
): Promise<Notice[]> {
  const disabled = await disableWebhooks(tx, targets, reason);
  if (disabled.length > 0) await onDisabled(tx, disabled);
  return disabled.map(({ webhookId }) => ({ webhookId, state: 'WEBHOOK_DISABLED', reason }));
}

/** Records a notice of each circuit that opens or closes. Returns the webhooks whose circuit is open. */
export async function countOutcomes(
  deps: TransitionDependencies,
  outcomes: Map<string, Outcomes>,
): Promise<string[]> {
  let open: string[] = [];
  await changeAndNotify(deps, async (tx) => {
    const results = await updateCircuits(tx, outcomes, deps.durations.circuit);
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

async function changeAndNotify(
  { db, notify, logger, metrics }: TransitionDependencies,
  change: (tx: Database) => Promise<Notice[]>,
): Promise<void> {
  let owing: string[] = [];
  const notices = await db.transaction(async (tx) => {
    const made = await change(tx);
    if (made.length > 0) owing = await recordNotices(tx, made);
    return made;
  });
  for (const { webhookId, state, reason } of notices) {
    logger.warn({ webhookId, notice: state, reason }, 'webhook notice recorded');
    if (state === 'WEBHOOK_DISABLED') metrics.webhooksDisabled.inc({ reason: reason ?? '' });
    else metrics.circuitTransitions.inc({ to: state === 'WEBHOOK_FAILING' ? 'open' : 'closed' });
    if (state === 'WEBHOOK_RECOVERED') owing.push(webhookId); // its held deliveries may go
  }
  if (owing.length > 0) notify(dueSinceUnknown(owing));
}

const success: Omit<Outcomes, 'storedAddress'> = {
  attempts: 1,
  failures: 0,
  failedDeliveries: [],
  succeededAgoMs: 0,
  probe: 'SUCCEEDED',
  retryAfterMs: 0,
};

/** A manual success counts as a probe's: the receiver is back, so an open circuit closes. Never rejects. */
export async function reportSuccess(
  deps: TransitionDependencies,
  { webhookId, storedAddress }: Pick<Target, 'webhookId' | 'storedAddress'>,
): Promise<void> {
  try {
    await countOutcomes(deps, new Map([[webhookId, { ...success, storedAddress }]]));
  } catch (error) {
    deps.logger.warn({ webhookId, error: describeError(error) }, 'success not counted for the circuit');
  }
}
