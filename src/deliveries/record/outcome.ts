import type { AttemptRecord, Claim, Settlement } from '../outbox/types.js';
import type { AttemptOutcome } from '../send/request.js';
import { nextStep } from './retry-policy.js';

/** What is recorded of an attempt, whatever asked for it. */
export const attemptRecordOf = (claim: Claim, outcome: AttemptOutcome): AttemptRecord => ({
  shipperId: claim.shipperId,
  deliveryId: claim.deliveryId,
  number: claim.number,
  trigger: claim.trigger,
  startedAt: outcome.startedAt,
  durationMs: outcome.durationMs,
  statusCode: outcome.statusCode,
  errorCode: outcome.errorCode,
  errorDetail: outcome.errorDetail,
  responseBody: outcome.responseBody,
  requestHeaders: outcome.requestHeaders,
});

/** The same, and what becomes of the delivery. */
export function settlementOf(
  claim: Claim,
  outcome: AttemptOutcome,
  scheduleMs: readonly number[],
): Settlement {
  const step = stepOf(claim, outcome, scheduleMs);
  const delayMs = step.status === 'RETRY' ? step.delayMs : null;
  return { ...attemptRecordOf(claim, outcome), status: step.status, delayMs };
}

/** An answer of 410 Gone disables the webhook at once, whatever asked for the attempt (contract, section 5). */
export const isGone = ({ statusCode }: Pick<AttemptOutcome, 'statusCode'>): boolean => statusCode === 410;

/** Costs no retry: an answer of 410, which disables the webhook, and a failed probe, which leaves the circuit open. */
const costsNothing = (claim: Claim, outcome: AttemptOutcome) =>
  !outcome.ok && (isGone(outcome) || claim.isProbe);

/** An attempt of a replay spends no step of the schedule, not even the last one, which it may have hastened. */
const spentSteps = ({ trigger, failureCount }: Claim, scheduleMs: readonly number[]) =>
  trigger === 'REPLAY' ? Math.min(failureCount, scheduleMs.length - 1) : failureCount;

const stepOf = (claim: Claim, outcome: AttemptOutcome, scheduleMs: readonly number[]) =>
  costsNothing(claim, outcome)
    ? ({ status: 'UNCHANGED' } as const)
    : nextStep({
        succeeded: outcome.ok,
        earlierFailures: spentSteps(claim, scheduleMs),
        scheduleMs,
        retryAfter: outcome.retryAfter,
        now: new Date(),
        random: Math.random(),
      });
