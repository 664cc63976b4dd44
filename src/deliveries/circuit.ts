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
  probe: 'SUCCEEDED' | 'FAILED' | null;
  /** How long the receiver asked the probe to leave it alone, 0 if it did not. */
  retryAfterMs: number;
}

export type Transition = 'OPENED' | 'CLOSED' | null;

const windowMs = 60_000;
const fewestAttempts = 10;
const failedShare = 0.9;
const firstWaitMs = 30_000;
const longestWaitMs = 600_000;

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
 * Opens where of at least 10 attempts within a minute at least 90 % failed: not called for 30 s, doubling to 10 m
 * with each probe that fails, or longer where the probe's answer asks for that (Retry-After). A probe that succeeds closes it. Attempts that were under way when it opened change
 * nothing but the time of the last success.
 */
export function applyOutcomes(
  before: Circuit,
  outcomes: Outcomes,
  now: Date,
): { circuit: Circuit; transition: Transition } {
  const circuit = count(before, outcomes, now);
  if (circuit.openUntil !== null) {
    if (outcomes.probe === 'SUCCEEDED') {
      return { circuit: { ...newCircuit(now), lastSuccessAt: circuit.lastSuccessAt }, transition: 'CLOSED' };
    }
    const stays = outcomes.probe === 'FAILED' ? open(circuit, now, outcomes.retryAfterMs) : circuit;
    return { circuit: stays, transition: null };
  }
  const failing = circuit.attempts >= fewestAttempts && circuit.failures >= failedShare * circuit.attempts;
  return failing ? { circuit: open(circuit, now, 0), transition: 'OPENED' } : { circuit, transition: null };
}

function count(before: Circuit, { attempts, failures }: Outcomes, now: Date): Circuit {
  const fresh = now.getTime() - before.windowStartedAt.getTime() >= windowMs;
  const succeeded = attempts > failures;
  return {
    ...before,
    windowStartedAt: fresh ? now : before.windowStartedAt,
    attempts: (fresh ? 0 : before.attempts) + attempts,
    failures: (fresh ? 0 : before.failures) + failures,
    failingSince: succeeded ? null : (before.failingSince ?? (failures > 0 ? now : null)),
    lastSuccessAt: succeeded ? now : before.lastSuccessAt,
  };
}

/** A Retry-After makes the wait longer, never shorter. */
const open = (circuit: Circuit, now: Date, retryAfterMs: number): Circuit => {
  const waitMs = Math.min(firstWaitMs * 2 ** circuit.timesOpened, longestWaitMs);
  return {
    ...circuit,
    openUntil: new Date(now.getTime() + Math.max(waitMs, retryAfterMs)),
    timesOpened: circuit.timesOpened + 1,
  };
};
