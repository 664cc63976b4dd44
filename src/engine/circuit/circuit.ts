import { describeError } from '../../platform/errors.js';
import type { Logger } from '../../platform/telemetry/logger.js';
import type { Claim } from '../outbox/types.js';

/** The circuit of one webhook, shared by all workers. */
export interface Circuit {
  windowStartedAt: Date;
  attempts: number;
  failures: number;
  failingSince: Date | null;
  /** Since `failingSince`. */
  failedAttempts: number;
  /** Theirs, at most as many as a verdict needs. */
  failedDeliveries: string[];
  lastFailedAt: Date | null;
  lastSuccessAt: Date | null;
  /** Null while closed. */
  openUntil: Date | null;
  timesOpened: number;
}

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

/** A webhook that fails for so long is disabled if it did often enough, because little traffic is no proof. */
export const verdict = { daysWithoutSuccess: 5, failedAttempts: 10, failedDeliveries: 3 };

export const newCircuit = (now: Date): Circuit => ({
  windowStartedAt: now,
  attempts: 0,
  failures: 0,
  failingSince: null,
  failedAttempts: 0,
  failedDeliveries: [],
  lastFailedAt: null,
  lastSuccessAt: null,
  openUntil: null,
  timesOpened: 0,
});

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

/** Counts in memory, so a healthy webhook costs no statement. */
export interface CircuitCounter {
  /** `retryAfterMs`: a probe's Retry-After, 0 if none. */
  note(claim: Claim, storedAddress: string, result: Result, retryAfterMs: number): void;
  flushed(): Promise<void>;
}

/** Attempts without a failure, by webhook. Times are those of performance.now(). */
type Quiet = Map<
  string,
  { storedAddress: string; count: number; lastAt: number; succeededAt: number | null }
>;

export function createCircuitCounter(deps: {
  logger: Logger;
  /** How long a response counts against a failure. */
  windowMs: number;
  countOutcomes(outcomes: Map<string, Outcomes>): Promise<void>;
}): CircuitCounter {
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
    note: ({ webhookId, deliveryId, troubled, isProbe }, storedAddress, result, retryAfterMs) => {
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
