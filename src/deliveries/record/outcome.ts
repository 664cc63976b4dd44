import type { Claim, Settlement } from '../outbox/types.js';
import type { AttemptOutcome } from '../send/request.js';
import { nextStep } from './retry-policy.js';

/** What is recorded of an attempt, and what becomes of its delivery. */
export function settlementOf(
  claim: Claim,
  outcome: AttemptOutcome,
  scheduleMs: readonly number[],
): Settlement {
  const step = stepOf(claim, outcome, scheduleMs);
  return {
    shipperId: claim.shipperId,
    deliveryId: claim.deliveryId,
    number: claim.number,
    trigger: claim.trigger,
    status: step.status,
    delayMs: step.status === 'RETRY' ? step.delayMs : null,
    startedAt: outcome.startedAt,
    durationMs: outcome.durationMs,
    statusCode: outcome.statusCode,
    errorCode: outcome.errorCode,
    responseBody: outcome.responseBody,
    requestHeaders: outcome.requestHeaders,
  };
}

/** An answer of 410 Gone disables the webhook at once, whatever asked for the attempt (contract, section 5). */
export const isGone = ({ statusCode }: Pick<AttemptOutcome, 'statusCode'>): boolean => statusCode === 410;

/** Costs no retry: an answer of 410, which disables the webhook, and a failed probe, which leaves the circuit open. */
const costsNothing = (claim: Claim, outcome: AttemptOutcome) =>
  !outcome.ok && (isGone(outcome) || claim.isProbe);

const stepOf = (claim: Claim, outcome: AttemptOutcome, scheduleMs: readonly number[]) =>
  costsNothing(claim, outcome)
    ? ({ status: 'UNCHANGED' } as const)
    : nextStep({
        succeeded: outcome.ok,
        earlierFailures: claim.failureCount,
        scheduleMs,
        retryAfter: outcome.retryAfter,
        now: new Date(),
        random: Math.random(),
      });
