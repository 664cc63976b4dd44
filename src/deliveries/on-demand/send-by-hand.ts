import { describeError } from '../../platform/errors.js';
import type { Database } from '../../platform/database/postgres.js';
import { disableGone, type TransitionDependencies } from '../circuit/transitions.js';
import { noteAttempt } from '../record/notes.js';
import { attemptRecordOf, isGone } from '../record/outcome.js';
import { untilBack } from '../record/until-back.js';
import type { Target, Targets } from '../send/targets.js';
import type { Times } from '../times.js';
import type { AttemptRecord, Claim } from '../outbox/types.js';
import { sendClaim, type SendingOptions } from '../send/request.js';

export interface ByHandOptions extends SendingOptions, Omit<TransitionDependencies, 'times'> {
  targets: Targets;
  times: Times;
  /** How long a claim holds: no attempt by hand lasts longer, so its lease needs no renewal. */
  leaseMs: number;
}

/** It leaves time to record the outcome. */
export const byHandLeaseMs = (timeoutMs: number, { leaseMs }: Times): number => timeoutMs + leaseMs;

/**
 * Sends a claimed attempt outside the schedule and records it by `settle`. For the circuit its failure does not count.
 * Null if nothing was sent: it might not be any more (send/starts.ts), or where to is not known now.
 */
export async function sendByHand(
  options: ByHandOptions,
  claim: Claim,
  issuedAt: number,
  settle: (db: Database, attempt: AttemptRecord & { succeeded: boolean }) => Promise<boolean>,
): Promise<{ settled: boolean; succeeded: boolean } | null> {
  const { times, logger } = options;
  const target = await options.targets.of(claim).catch((error: unknown) => {
    logger.warn({ deliveryId: claim.deliveryId, error: describeError(error) }, 'target not known');
  });
  const outcome = target ? await sendClaim(options, claim, target, issuedAt) : null;
  if (!target || !outcome) return null;
  if (isGone(outcome)) await disableUnlessAway(options, target);
  const record = attemptRecordOf(claim, outcome);
  // While PostgreSQL is away an outcome is kept as long as its lease surely holds.
  const giveUpAt = performance.now() + times.leaseMs - times.longestStartMs;
  const settled = await untilBack(
    () => settle(options.db, { ...record, succeeded: outcome.ok }),
    () => performance.now() < giveUpAt,
    times.patienceMs,
  );
  noteAttempt(options, claim, record, settled);
  return { settled, succeeded: outcome.ok };
}

/** The outcome is worth recording even if this is not: the next attempt is told the same. */
const disableUnlessAway = (options: ByHandOptions, target: Target) =>
  disableGone(options, [target]).catch((error: unknown) =>
    options.logger.warn({ webhookId: target.webhookId, error: describeError(error) }, 'not disabled yet'),
  );
