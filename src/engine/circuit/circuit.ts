import { describeError } from '../../platform/errors.js';
import type { Logger } from '../../platform/telemetry/logger.js';
import type { Metrics } from '../../platform/telemetry/metrics.js';
import type { Database } from '../../platform/database/postgres.js';
import {
  newCircuit,
  verdict,
  lockCircuits,
  saveCircuits,
  markCalled,
  type Circuit,
  disableWebhooks,
  lockHopeless,
  isAnyHopeless,
  recordNotices,
  type AutoDisableTarget,
  type DisabledReason,
  type Notice,
  type ResponseReason,
} from './store.js';
import type { Durations } from '../../platform/durations.js';
import type { Target } from '../send/sealing.js';
import { dueSinceUnknown, type Claim, type Due } from '../outbox/types.js';

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
}

export type Transition = 'OPENED' | 'CLOSED' | null;

export interface CircuitDurations {
  windowMs: number;
  firstWaitMs: number;
  maxWaitMs: number;
}

const minAttempts = 10;
const failedShare = 0.9;

/**
 * Opens a circuit if at least 90 % of at least 10 attempts within a minute failed. It stays open for 30 s, doubling to
 * 10 m with each failed probe, or longer if the probe's Retry-After says so. A successful probe closes it. Of attempts
 * under way when it opened, only a success counts: it resets `failingSince`.
 */
export function applyOutcomes(
  before: Circuit,
  outcomes: Outcomes,
  now: Date,
  durations: CircuitDurations,
): { circuit: Circuit; transition: Transition } {
  const circuit = count(before, outcomes, now, durations.windowMs);
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

function count(before: Circuit, outcomes: Outcomes, now: Date, windowMs: number): Circuit {
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

const notFailing = { failingSince: null, failedAttempts: 0, failedDeliveries: [], lastFailedAt: null };

const failingOn = (before: Circuit, { failures, failedDeliveries }: Outcomes, now: Date) => ({
  failingSince: before.failingSince ?? now,
  failedAttempts: before.failedAttempts + failures,
  failedDeliveries: distinct(before.failedDeliveries, failedDeliveries),
  lastFailedAt: now,
});

const distinct = (some: string[], others: string[]) =>
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

/** Attempts without a failure, by webhook. Times are those of performance.now(). */
type Quiet = Map<
  string,
  { storedAddress: string; count: number; lastAt: number; succeededAt: number | null }
>;

/** Counts in memory, so a healthy webhook costs no statement. */
export function createCircuitCounter(deps: {
  logger: Logger;
  /** How long a response counts against a failure. */
  windowMs: number;
  countOutcomes(outcomes: Map<string, Outcomes>): Promise<void>;
}) {
  /** They count once a failure follows within the window. */
  let quiet: Quiet = new Map();
  let quietBefore: Quiet = new Map();
  let quietSince = performance.now();
  let unreported = new Map<string, Outcomes>();
  let reporting: Promise<void> | null = null;

  const report = async (): Promise<void> => {
    while (unreported.size > 0) {
      const batch = unreported;
      unreported = new Map();
      await deps.countOutcomes(batch);
    }
  };

  const add = (webhookId: string, outcomes: Outcomes) => {
    const known = unreported.get(webhookId);
    const before = known?.storedAddress === outcomes.storedAddress ? known : undefined;
    unreported.set(webhookId, {
      storedAddress: outcomes.storedAddress,
      attempts: (before?.attempts ?? 0) + outcomes.attempts,
      failures: (before?.failures ?? 0) + outcomes.failures,
      failedDeliveries: distinct(before?.failedDeliveries ?? [], outcomes.failedDeliveries),
      succeededAgoMs: outcomes.succeededAgoMs ?? before?.succeededAgoMs ?? null,
      probe: outcomes.probe ?? before?.probe ?? null,
      retryAfterMs: Math.max(outcomes.retryAfterMs, before?.retryAfterMs ?? 0),
    });
    startReporting();
  };

  const startReporting = () => {
    reporting ??= report()
      .catch((error: unknown) =>
        deps.logger.warn({ error: describeError(error) }, 'outcomes not counted for circuits'),
      )
      .finally(() => {
        reporting = null;
        if (unreported.size > 0) startReporting(); // added while the last report ended
      });
  };

  const dropOld = () => {
    const elapsedMs = performance.now() - quietSince;
    if (elapsedMs <= deps.windowMs) return;
    quietBefore = elapsedMs <= 2 * deps.windowMs ? quiet : new Map<string, never>();
    quiet = new Map();
    quietSince = performance.now();
  };

  const keepQuiet = (webhookId: string, storedAddress: string, succeeded: boolean) => {
    const now = performance.now();
    const known = quiet.get(webhookId);
    if (known?.storedAddress === storedAddress) {
      known.count += 1;
      known.lastAt = now;
      if (succeeded) known.succeededAt = now;
    } else
      quiet.set(webhookId, { storedAddress, count: 1, lastAt: now, succeededAt: succeeded ? now : null });
  };

  /** Takes them out, so that they are counted with the failure, and only once. */
  const takeQuiet = (
    webhookId: string,
    storedAddress: string,
  ): { count: number; succeededAgoMs: number | null } => {
    const now = performance.now();
    const those = [quietBefore, quiet].flatMap((attempts) => attempts.get(webhookId) ?? []);
    quiet.delete(webhookId);
    quietBefore.delete(webhookId);
    const recent = those.filter(
      (one) => one.storedAddress === storedAddress && now - one.lastAt <= deps.windowMs,
    );
    const succeededAt = recent.findLast((one) => one.succeededAt !== null)?.succeededAt ?? null;
    return {
      count: recent.reduce((sum, { count }) => sum + count, 0),
      succeededAgoMs: succeededAt === null ? null : now - succeededAt,
    };
  };

  return {
    /** `retryAfterMs`: a probe's Retry-After, 0 if none. */
    note: (
      { webhookId, deliveryId, troubled, isProbe }: Claim,
      storedAddress: string,
      result: Result,
      retryAfterMs: number,
    ): void => {
      dropOld();
      const succeeded = result === 'SUCCEEDED';
      const failed = result === 'FAILED';
      if (!failed && !troubled) return keepQuiet(webhookId, storedAddress, succeeded);
      const earlier = takeQuiet(webhookId, storedAddress);
      add(webhookId, {
        storedAddress,
        attempts: earlier.count + 1,
        failures: failed ? 1 : 0,
        failedDeliveries: failed ? [deliveryId] : [],
        succeededAgoMs: succeeded ? 0 : earlier.succeededAgoMs,
        probe: isProbe ? result : null,
        retryAfterMs,
      });
    },
    flushed: async () => {
      while (reporting) await reporting;
    },
  };
}

/** Takes row locks. Call it in a transaction. */
export async function updateCircuits(
  tx: Database,
  outcomes: Map<string, Outcomes>,
  durations: CircuitDurations,
): Promise<{ webhookId: string; transition: Transition; isOpen: boolean }[]> {
  const called = [...outcomes].map(([webhookId, { storedAddress }]) => ({ webhookId, storedAddress }));
  const rows = await lockCircuits(tx, called);
  const results = rows.map((row) => {
    const { circuit, transition } = applyOutcomes(row, outcomes.get(row.webhookId)!, row.now, durations);
    return {
      webhookId: row.webhookId,
      probed: outcomes.get(row.webhookId)!.probe !== null,
      circuit,
      transition,
      isOpen: circuit.openUntil !== null,
    };
  });
  await saveCircuits(tx, results);
  const closed = results
    .filter(({ transition }) => transition === 'CLOSED')
    .map(({ webhookId }) => webhookId);
  if (closed.length > 0) await markCalled(tx, closed);
  return results;
}

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
