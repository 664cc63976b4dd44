import { describeError } from '../../platform/errors.js';
import type { Database } from '../../platform/database/postgres.js';
import {
  newCircuit,
  minFailedLong,
  disabledAfter,
  verdict,
  lockCircuits,
  saveCircuits,
  markCalled,
  type Circuit,
  disableWebhooks,
  type AutoDisableTarget,
  type DisabledReason,
  type ResponseReason,
  isAnyOverdue,
  lockOverdue,
  tellFailing,
} from './store.js';
import { changeAndNotify, noFacts, type Notice, type TransitionDependencies } from './notices.js';
import type { Target } from '../send/sealing.js';
import { dueSinceUnknown } from '../outbox/types.js';

/** A receiver that asks for no further attempt has responded: that is no failure, and no success either. */
export type Result = 'SUCCEEDED' | 'FAILED' | 'REFUSED';

/** New outcomes of one webhook. `probe`: null if none was sent. */
export interface Outcomes {
  /** The address that was called (`Target`): nothing is known of another. */
  storedAddress: string;
  attempts: number;
  failures: number;
  /** The deliveries of the failures, at most as many as a verdict needs. */
  failedDeliveries: string[];
  /** Time since the last success; null if there was none. */
  succeededAgoMs: number | null;
  probe: Result | null;
  /** The probe's Retry-After; 0 if none. */
  retryAfterMs: number;
  /** The status of the last failure's response, or its error code; null if none failed. */
  lastFailure: string | null;
}

export type Transition = 'OPENED' | 'CLOSED' | null;

export interface CircuitDurations {
  windowMs: number;
  firstWaitMs: number;
  maxWaitMs: number;
  /** Without a success for so long, a webhook fails. */
  failingAfterMs: number;
}

/** Whether its owner is to be told that a webhook fails, or that it no longer does. */
type Turn = 'FAILING' | 'RECOVERED' | null;

const minAttempts = 10;
const failedShare = 0.9;

/**
 * A webhook fails from when its circuit opens, or from an hour without a success over three attempts, until its next
 * success; with an open circuit, until that closes.
 */
export function applyOutcomes(
  before: Circuit,
  outcomes: Outcomes,
  now: Date,
  durations: CircuitDurations,
): { circuit: Circuit; transition: Transition; turn: Turn } {
  const { circuit, transition } = count(before, outcomes, now, durations);
  const succeeded = outcomes.succeededAgoMs !== null;
  const failed = before.told > 0 || before.openUntil !== null;
  const fails =
    circuit.openUntil !== null || hasFailedLong(circuit, now, durations) || (failed && !succeeded);
  const told = succeeded ? Math.min(before.told, 1) : before.told; // warnings count from the last success
  return {
    circuit: { ...circuit, told: fails ? Math.max(told, 1) : 0 },
    transition,
    turn: fails === failed ? null : fails ? 'FAILING' : 'RECOVERED',
  };
}

const hasFailedLong = (
  { failingSince, failedAttempts }: Circuit,
  now: Date,
  { failingAfterMs }: CircuitDurations,
) =>
  failingSince !== null &&
  now.getTime() - failingSince.getTime() >= failingAfterMs &&
  failedAttempts >= minFailedLong;

/**
 * Opens a circuit if at least 90 % of at least 10 attempts within a minute failed. It stays open for 30 s, doubling to
 * 10 m with each failed probe, or longer if the probe's Retry-After says so. A successful probe closes it. Of attempts
 * under way when it opened, only a success counts: it resets `failingSince`.
 */
function count(
  before: Circuit,
  outcomes: Outcomes,
  now: Date,
  durations: CircuitDurations,
): { circuit: Circuit; transition: Transition } {
  const circuit = add(before, outcomes, now, durations.windowMs);
  if (circuit.openUntil !== null) {
    if (outcomes.probe === 'SUCCEEDED') {
      return { circuit: { ...newCircuit(now), lastSuccessAt: circuit.lastSuccessAt }, transition: 'CLOSED' };
    }
    const stays =
      outcomes.probe === 'FAILED' ? open(circuit, now, outcomes.retryAfterMs, durations) : circuit;
    return { circuit: stays, transition: null };
  }
  const failing = circuit.attempts >= minAttempts && circuit.failures >= failedShare * circuit.attempts;
  return failing
    ? { circuit: open(circuit, now, 0, durations), transition: 'OPENED' }
    : { circuit, transition: null };
}

function add(before: Circuit, outcomes: Outcomes, now: Date, windowMs: number): Circuit {
  const { attempts, failures, succeededAgoMs } = outcomes;
  const sinceMs = now.getTime() - before.windowStartedAt.getTime();
  const fresh = sinceMs >= windowMs || sinceMs < 0; // the clock was set back
  const succeeded = succeededAgoMs !== null;
  return {
    ...before,
    windowStartedAt: fresh ? now : before.windowStartedAt,
    attempts: (fresh ? 0 : before.attempts) + attempts,
    failures: (fresh ? 0 : before.failures) + failures,
    ...(succeeded ? notFailing : failures > 0 && failingOn(before, outcomes, now)),
    lastSuccessAt: succeeded
      ? new Date(Math.max(now.getTime() - succeededAgoMs, before.lastSuccessAt?.getTime() ?? 0))
      : before.lastSuccessAt,
  };
}

const notFailing = {
  failingSince: null,
  failedAttempts: 0,
  failedDeliveries: [],
  lastFailedAt: null,
  lastFailure: null,
};

const failingOn = (before: Circuit, { failures, failedDeliveries, lastFailure }: Outcomes, now: Date) => ({
  failingSince: before.failingSince ?? now,
  failedAttempts: before.failedAttempts + failures,
  failedDeliveries: distinct(before.failedDeliveries, failedDeliveries),
  lastFailedAt: now,
  lastFailure,
});

export const distinct = (some: string[], others: string[]) =>
  [...new Set([...some, ...others])].slice(0, verdict.failedDeliveries);

/** Retry-After extends the wait, never shortens it. */
const open = (circuit: Circuit, now: Date, retryAfterMs: number, durations: CircuitDurations): Circuit => {
  const waitMs = Math.min(durations.firstWaitMs * 2 ** circuit.timesOpened, durations.maxWaitMs);
  return {
    ...circuit,
    openUntil: new Date(now.getTime() + Math.max(waitMs, retryAfterMs)),
    timesOpened: circuit.timesOpened + 1,
  };
};

interface Updated extends ReturnType<typeof applyOutcomes> {
  webhookId: string;
  before: Circuit;
}

/** Takes row locks. Call it in a transaction. */
export async function updateCircuits(
  tx: Database,
  outcomes: Map<string, Outcomes>,
  durations: CircuitDurations,
): Promise<Updated[]> {
  const called = [...outcomes].map(([webhookId, { storedAddress }]) => ({ webhookId, storedAddress }));
  const rows = await lockCircuits(tx, called);
  const results = rows.map((row) => {
    const applied = applyOutcomes(row, outcomes.get(row.webhookId)!, row.now, durations);
    const { webhookId } = row;
    return { webhookId, probed: outcomes.get(webhookId)!.probe !== null, before: row, ...applied };
  });
  await saveCircuits(tx, results);
  const closed = results
    .filter(({ transition }) => transition === 'CLOSED')
    .map(({ webhookId }) => webhookId);
  if (closed.length > 0) await markCalled(tx, closed);
  return results;
}

/** Because of a response; even paused ones, unless their address has changed since. */
export async function disableByResponse(
  deps: TransitionDependencies,
  targets: AutoDisableTarget[],
  reason: ResponseReason,
): Promise<void> {
  await changeAndNotify(deps, (tx) => disable(deps, tx, targets, reason));
}

/**
 * Disables webhooks that have failed for days, often enough (`verdict`), and tells the owners of those that fail for an
 * hour now, or will soon be disabled.
 */
export async function judgeFailing(deps: TransitionDependencies): Promise<void> {
  const { failingAfterMs } = deps.durations.circuit;
  if (!(await isAnyOverdue(deps.db, failingAfterMs))) return;
  await changeAndNotify(deps, async (tx) => {
    const { failing, hopeless, recovered } = await lockOverdue(tx, failingAfterMs);
    const targets = hopeless.map((webhookId) => ({ webhookId, storedAddress: null }));
    const disabled = await disable(deps, tx, targets, 'FAILING');
    return [...recovered, ...disabled, ...(await tellFailing(tx, failing, failingAfterMs))];
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
  return disabled.map(({ webhookId, since, lastFailure }) => ({
    ...noFacts,
    webhookId,
    state: 'WEBHOOK_DISABLED',
    reason,
    ...(reason === 'FAILING' && { since, lastFailure }),
  }));
}

/** Records a notice of each webhook that begins to fail, or recovers. Returns those whose circuit is open. */
export async function countOutcomes(
  deps: TransitionDependencies,
  outcomes: Map<string, Outcomes>,
): Promise<string[]> {
  let results: Updated[] = [];
  await changeAndNotify(deps, async (tx) => {
    results = await updateCircuits(tx, outcomes, deps.durations.circuit);
    return results.flatMap(noticeOf);
  });
  const closed = results.filter(({ transition }) => transition === 'CLOSED');
  for (const { transition } of results)
    if (transition) deps.metrics.circuitTransitions.inc({ to: transition === 'OPENED' ? 'open' : 'closed' });
  // Their held deliveries may go.
  if (closed.length > 0) deps.notify(dueSinceUnknown(closed.map(({ webhookId }) => webhookId)));
  return results.filter(({ circuit }) => circuit.openUntil !== null).map(({ webhookId }) => webhookId);
}

function noticeOf({ webhookId, turn, before, circuit }: Updated): Notice[] {
  if (turn === 'RECOVERED') {
    const { failingSince: since, lastFailure } = before;
    return [{ ...noFacts, webhookId, state: 'WEBHOOK_RECOVERED', reason: null, since, lastFailure }];
  }
  if (turn === null) return [];
  const { openUntil, failingSince: since, lastFailure } = circuit;
  const reason = openUntil === null ? 'NO_SUCCESS' : 'CIRCUIT_OPEN';
  const disablesAt = since && disabledAfter(since);
  return [{ ...noFacts, webhookId, state: 'WEBHOOK_FAILING', reason, since, lastFailure, disablesAt }];
}

const success: Omit<Outcomes, 'storedAddress'> = {
  attempts: 1,
  failures: 0,
  failedDeliveries: [],
  succeededAgoMs: 0,
  probe: 'SUCCEEDED',
  retryAfterMs: 0,
  lastFailure: null,
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
