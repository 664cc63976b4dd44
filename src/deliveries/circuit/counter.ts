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

export function createCircuitCounter(deps: {
  logger: Logger;
  /** How long a success weighs against a failure. */
  windowMs: number;
  countOutcomes(outcomes: Map<string, Outcomes>): Promise<void>;
}): CircuitCounter {
  /** Successes of webhooks nothing was wrong with: they weigh when a failure comes within the same minute. */
  let quiet = new Map<string, { count: number; lastAt: number }>();
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

  return {
    note: ({ webhookId, troubled, isProbe }, succeeded, retryAfterMs) => {
      if (performance.now() - quietSince > deps.windowMs) {
        quiet = new Map();
        quietSince = performance.now();
      }
      if (succeeded && !troubled) {
        quiet.set(webhookId, { count: (quiet.get(webhookId)?.count ?? 0) + 1, lastAt: performance.now() });
        return;
      }
      const earlier = quiet.get(webhookId);
      quiet.delete(webhookId);
      const earlierAgoMs = earlier ? performance.now() - earlier.lastAt : null;
      add(webhookId, {
        attempts: (earlier?.count ?? 0) + 1,
        failures: succeeded ? 0 : 1,
        succeededAgoMs: succeeded ? 0 : earlierAgoMs,
        probe: isProbe ? (succeeded ? 'SUCCEEDED' : 'FAILED') : null,
        retryAfterMs,
      });
    },
    flushed: async () => {
      while (telling) await telling;
    },
  };
}
