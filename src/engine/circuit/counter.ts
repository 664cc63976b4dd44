import { describeError } from '../../platform/errors.js';
import type { Logger } from '../../platform/telemetry/logger.js';
import type { Outcomes } from './rule.js';
import type { Claim } from '../outbox/types.js';

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
