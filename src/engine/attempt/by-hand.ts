import { describeError } from '../../platform/errors.js';
import type { Database } from '../../platform/database/postgres.js';
import type { ResponseReason } from '../circuit/store.js';
import { disableByResponse, type TransitionDependencies } from '../circuit/transitions.js';
import { retryWhileDatabaseDown } from '../settle/settler.js';
import { attemptRecordOf, disabledBy } from '../settle/retry-policy.js';
import type { Target } from '../send/targets.js';
import type { Durations } from '../../platform/durations.js';
import type { AttemptRecord, Claim } from '../outbox/types.js';
import { makeAttempt, type AttemptOptions } from './attempt.js';

export interface ByHandOptions extends AttemptOptions, Omit<TransitionDependencies, 'durations'> {
  durations: Durations;
  /** No attempt by hand lasts longer, so its lease needs no renewal. */
  leaseMs: number;
}

/** Leaves time to record the outcome. */
export const byHandLeaseMs = (timeoutMs: number, { leaseMs }: Durations): number => timeoutMs + leaseMs;

/** A failure does not count for the circuit. Null if nothing was sent: it may not start, or has no readable target. */
export async function sendByHand(
  options: ByHandOptions,
  claim: Claim,
  issuedAt: number,
  settle: (db: Database, attempt: AttemptRecord & { succeeded: boolean }) => Promise<boolean>,
): Promise<{ settled: boolean; succeeded: boolean } | null> {
  const { durations } = options;
  let settled = false;
  const outcome = await makeAttempt(options, claim, issuedAt, {
    settle: async (target, sent) => {
      const disables = disabledBy(sent);
      if (disables !== null) await disable(options, target, disables);
      const record = attemptRecordOf(claim, sent);
      // While PostgreSQL is unavailable, retry only as long as the lease is certainly valid.
      const giveUpAt = performance.now() + durations.leaseMs - durations.maxStartMs;
      settled = await retryWhileDatabaseDown(
        () => settle(options.db, { ...record, succeeded: sent.ok }),
        () => performance.now() < giveUpAt,
        durations.patienceMs,
      );
      return { ended: record, accepted: settled };
    },
  });
  return outcome && { settled, succeeded: outcome.ok };
}

/** A failure is only logged: the outcome must still be recorded, and the next attempt disables the webhook. */
const disable = (options: ByHandOptions, target: Target, reason: ResponseReason) =>
  disableByResponse(options, [target], reason).catch((error: unknown) =>
    options.logger.warn(
      { webhookId: target.webhookId, error: describeError(error) },
      'webhook not disabled; the next attempt retries',
    ),
  );
