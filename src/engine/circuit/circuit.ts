import { describeError } from '../../platform/errors.js';
import type { Logger } from '../../platform/telemetry/logger.js';
import type { Claim } from '../outbox/types.js';

/** The circuit of one webhook, shared by all workers. */
export interface Circuit {
  windowStartedAt: Date;
  attempts: number;
  failures: number;
  failingSince: Date | null;
  lastSuccessAt: Date | null;
  /** Null while closed. */
  openUntil: Date | null;
  timesOpened: number;
}

/** New outcomes of one webhook. `probe`: null if none was sent. */
export interface Outcomes {
  attempts: number;
  failures: number;
  /** Time since the last success; null if there was none. */
  succeededAgoMs: number | null;
  probe: 'SUCCEEDED' | 'FAILED' | null;
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

export const newCircuit = (now: Date): Circuit => ({
  windowStartedAt: now,
  attempts: 0,
  failures: 0,
  failingSince: null,
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

function count(
  before: Circuit,
  { attempts, failures, succeededAgoMs }: Outcomes,
  now: Date,
  windowMs: number,
): Circuit {
  const sinceMs = now.getTime() - before.windowStartedAt.getTime();
  const fresh = sinceMs >= windowMs || sinceMs < 0; // the clock was set back
  const succeeded = succeededAgoMs !== null;
  return {
    ...before,
    windowStartedAt: fresh ? now : before.windowStartedAt,
    attempts: (fresh ? 0 : before.attempts) + attempts,
    failures: (fresh ? 0 : before.failures) + failures,
    failingSince: succeeded ? null : (before.failingSince ?? (failures > 0 ? now : null)),
    lastSuccessAt: succeeded
      ? new Date(Math.max(now.getTime() - succeededAgoMs, before.lastSuccessAt?.getTime() ?? 0))
      : before.lastSuccessAt,
  };
}

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
  note(claim: Claim, succeeded: boolean, retryAfterMs: number): void;
  flushed(): Promise<void>;
}

/** Successes by webhook. `lastAt`: performance.now(). */
type Successes = Map<string, { count: number; lastAt: number }>;

export function createCircuitCounter(deps: {
  logger: Logger;
  /** How long a success counts against a failure. */
  windowMs: number;
  countOutcomes(outcomes: Map<string, Outcomes>): Promise<void>;
}): CircuitCounter {
  /** Successes that count once a failure follows within the window. */
  let quiet: Successes = new Map();
  let quietBefore: Successes = new Map();
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
    const before = unreported.get(webhookId);
    unreported.set(webhookId, {
      attempts: (before?.attempts ?? 0) + outcomes.attempts,
      failures: (before?.failures ?? 0) + outcomes.failures,
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

  /** Takes the successes out, so that they are counted with the failure, and only once. */
  const takeQuiet = (webhookId: string): { count: number; lastAgoMs: number } | null => {
    const now = performance.now();
    const those = [quiet, quietBefore].flatMap((successes) => successes.get(webhookId) ?? []);
    quiet.delete(webhookId);
    quietBefore.delete(webhookId);
    const recent = those.filter(({ lastAt }) => now - lastAt <= deps.windowMs);
    if (recent.length === 0) return null;
    return {
      count: recent.reduce((sum, { count }) => sum + count, 0),
      lastAgoMs: now - Math.max(...recent.map(({ lastAt }) => lastAt)),
    };
  };

  return {
    note: ({ webhookId, troubled, isProbe }, succeeded, retryAfterMs) => {
      dropOld();
      if (succeeded && !troubled) {
        quiet.set(webhookId, { count: (quiet.get(webhookId)?.count ?? 0) + 1, lastAt: performance.now() });
        return;
      }
      const earlier = takeQuiet(webhookId);
      add(webhookId, {
        attempts: (earlier?.count ?? 0) + 1,
        failures: succeeded ? 0 : 1,
        succeededAgoMs: succeeded ? 0 : (earlier?.lastAgoMs ?? null),
        probe: isProbe ? (succeeded ? 'SUCCEEDED' : 'FAILED') : null,
        retryAfterMs,
      });
    },
    flushed: async () => {
      while (reporting) await reporting;
    },
  };
}
