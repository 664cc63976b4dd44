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
