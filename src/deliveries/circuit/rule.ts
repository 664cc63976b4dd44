/** The circuit breaker of one webhook as all workers share it (contract, section 5). */
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

/** What happened since the last look. `probe` is the outcome of the probe of an open circuit, if it was sent. */
export interface Outcomes {
  attempts: number;
  failures: number;
  /** How long ago the last success was; null if none was. */
  succeededAgoMs: number | null;
  probe: 'SUCCEEDED' | 'FAILED' | null;
  /** How long the receiver asked the probe to leave it alone, 0 if it did not. */
  retryAfterMs: number;
}

export type Transition = 'OPENED' | 'CLOSED' | null;

export interface CircuitTimes {
  windowMs: number;
  firstWaitMs: number;
  longestWaitMs: number;
}

const fewestAttempts = 10;
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
 * Opens where of at least 10 attempts within a minute at least 90 % failed: not called for 30 s, doubling to 10 m with
 * each probe that fails, or longer where the probe's answer asks for that (Retry-After). A probe that succeeds closes
 * it. Of attempts that were under way when it opened only a success counts: when it was, and that it ends the days
 * without one.
 */
export function applyOutcomes(
  before: Circuit,
  outcomes: Outcomes,
  now: Date,
  times: CircuitTimes,
): { circuit: Circuit; transition: Transition } {
  const circuit = count(before, outcomes, now, times.windowMs);
  if (circuit.openUntil !== null) {
    if (outcomes.probe === 'SUCCEEDED') {
      return { circuit: { ...newCircuit(now), lastSuccessAt: circuit.lastSuccessAt }, transition: 'CLOSED' };
    }
    const stays = outcomes.probe === 'FAILED' ? open(circuit, now, outcomes.retryAfterMs, times) : circuit;
    return { circuit: stays, transition: null };
  }
  const failing = circuit.attempts >= fewestAttempts && circuit.failures >= failedShare * circuit.attempts;
  return failing
    ? { circuit: open(circuit, now, 0, times), transition: 'OPENED' }
    : { circuit, transition: null };
}

function count(
  before: Circuit,
  { attempts, failures, succeededAgoMs }: Outcomes,
  now: Date,
  windowMs: number,
): Circuit {
  const sinceMs = now.getTime() - before.windowStartedAt.getTime();
  const fresh = sinceMs >= windowMs || sinceMs < 0; // the clock was put back
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

/** A Retry-After makes the wait longer, never shorter. */
const open = (circuit: Circuit, now: Date, retryAfterMs: number, times: CircuitTimes): Circuit => {
  const waitMs = Math.min(times.firstWaitMs * 2 ** circuit.timesOpened, times.longestWaitMs);
  return {
    ...circuit,
    openUntil: new Date(now.getTime() + Math.max(waitMs, retryAfterMs)),
    timesOpened: circuit.timesOpened + 1,
  };
};
