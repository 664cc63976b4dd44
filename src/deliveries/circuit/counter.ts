import { describeError } from '../../platform/errors.js';
import type { Logger } from '../../platform/logger.js';
import type { Outcomes } from './rule.js';
import type { Claim } from '../outbox/types.js';

/** Counts outcomes by webhook and tells the circuits, so that a healthy webhook costs no statement at all. */
export interface CircuitCounter {
  /** `retryAfterMs`: how long the receiver asked a probe to leave it alone, else 0. */
  note(claim: Claim, succeeded: boolean, retryAfterMs: number): void;
  /** Resolves when what was noted so far has been counted. */
  flushed(): Promise<void>;
}

/** By webhook; moments are of performance.now(). */
type Successes = Map<string, { count: number; lastAt: number }>;

export function createCircuitCounter(deps: {
  logger: Logger;
  /** How long a success weighs against a failure. */
  windowMs: number;
  countOutcomes(outcomes: Map<string, Outcomes>): Promise<void>;
}): CircuitCounter {
  /** Successes of webhooks nothing was wrong with: they weigh when a failure comes within a minute. */
  let quiet: Successes = new Map();
  let quietBefore: Successes = new Map();
  let quietSince = performance.now();
  let toTell = new Map<string, Outcomes>();
  let telling: Promise<void> | null = null;

  const tell = async (): Promise<void> => {
    while (toTell.size > 0) {
      const batch = toTell;
      toTell = new Map();
      await deps.countOutcomes(batch);
    }
  };

  const add = (webhookId: string, outcomes: Outcomes) => {
    const before = toTell.get(webhookId);
    toTell.set(webhookId, {
      attempts: (before?.attempts ?? 0) + outcomes.attempts,
      failures: (before?.failures ?? 0) + outcomes.failures,
      succeededAgoMs: outcomes.succeededAgoMs ?? before?.succeededAgoMs ?? null,
      probe: outcomes.probe ?? before?.probe ?? null,
      retryAfterMs: Math.max(outcomes.retryAfterMs, before?.retryAfterMs ?? 0),
    });
    startTelling();
  };

  const startTelling = () => {
    telling ??= tell()
      .catch((error: unknown) => deps.logger.warn({ error: describeError(error) }, 'outcomes not counted'))
      .finally(() => {
        telling = null;
        if (toTell.size > 0) startTelling(); // came as it ended
      });
  };

  const forgetOld = () => {
    const elapsedMs = performance.now() - quietSince;
    if (elapsedMs <= deps.windowMs) return;
    quietBefore = elapsedMs <= 2 * deps.windowMs ? quiet : new Map<string, never>();
    quiet = new Map();
    quietSince = performance.now();
  };

  /** What a failure comes after: counted with it, and no second time. */
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
      forgetOld();
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
      while (telling) await telling;
    },
  };
}
