import { databaseNowMs } from '../../platform/clock.js';
import type { AttemptRecord, Claim, FailureReason, Settlement } from '../outbox/types.js';
import type { ResponseReason } from '../circuit/store.js';
import type { Sign } from '../schedule/congestion.js';
import { isAskedTo, isRefused } from '../send/errors.js';
import type { AttemptOutcome } from '../send/messages.js';

export const attemptRecordOf = (claim: Claim, outcome: AttemptOutcome): AttemptRecord => ({
  shipperId: claim.shipperId,
  deliveryId: claim.deliveryId,
  number: claim.number,
  trigger: claim.trigger,
  startedAt: outcome.startedAt,
  durationMs: outcome.durationMs,
  statusCode: outcome.statusCode,
  errorCode: outcome.errorCode,
  responseBody: outcome.responseBody,
  detail: outcome.detail,
});

export function settlementOf(
  claim: Claim,
  outcome: AttemptOutcome,
  scheduleMs: readonly number[],
): Settlement {
  const step = stepOf(claim, outcome, scheduleMs);
  return Object.assign(attemptRecordOf(claim, outcome), {
    status: step.status,
    delayMs: step.status === 'RETRY' ? step.delayMs : null,
    reason: step.status === 'FAILED' ? step.reason : null,
  });
}

/**
 * 410 Gone disables the webhook at once, and so does `webhook-delivery: disable` on any response, whatever the trigger.
 * Null if the response does not disable it.
 */
export const disabledBy = (
  response: Pick<AttemptOutcome, 'statusCode' | 'webhookDelivery'>,
): ResponseReason | null =>
  response.statusCode === 410 ? 'GONE' : isAskedTo('disable', response) ? 'REFUSED' : null;

const overloadStatuses = [429, 502, 503, 504];

/** Only what its receiver, or a proxy before it, says when there is too much. */
export const signOf = ({
  ok,
  statusCode,
  errorCode,
}: Pick<AttemptOutcome, 'ok' | 'statusCode' | 'errorCode'>): Sign =>
  ok
    ? 'SUCCEEDED'
    : errorCode === 'TIMEOUT' || overloadStatuses.includes(statusCode ?? 0)
      ? 'OVERLOADED'
      : null;

/** True if its thread has ended, for which the receiver is not to blame. */
export const isLost = ({ errorCode }: Pick<AttemptRecord, 'errorCode'>): boolean => errorCode === 'LOST';

/** A delivery that loses more attempts may be what ends the threads: then each costs a retry, and the waits grow. */
export const maxFreeLosses = 3;
const isFreeLoss = ({ number, failureCount }: Claim, outcome: AttemptOutcome) =>
  isLost(outcome) && number - failureCount <= maxFreeLosses;

/**
 * A failed attempt costs no retry if it was a redelivery, if it disabled the webhook, if it was a probe, which leaves
 * the circuit open, or if it was lost.
 */
const costsNoRetry = (claim: Claim, outcome: AttemptOutcome) =>
  !outcome.ok &&
  (claim.trigger === 'MANUAL' ||
    (!isRefused(outcome) && (disabledBy(outcome) !== null || claim.isProbe || isFreeLoss(claim, outcome))));

/** A replay's attempt uses no step of the schedule, not even the last one, which it may have brought forward. */
const spentSteps = ({ trigger, failureCount }: Claim, scheduleMs: readonly number[]) =>
  trigger === 'REPLAY' ? Math.min(failureCount, scheduleMs.length - 1) : failureCount;

const stepOf = (claim: Claim, outcome: AttemptOutcome, scheduleMs: readonly number[]) =>
  costsNoRetry(claim, outcome)
    ? ({ status: 'UNCHANGED' } as const)
    : nextStep({
        succeeded: outcome.ok,
        refused: isRefused(outcome),
        earlierFailures: spentSteps(claim, scheduleMs),
        scheduleMs,
        retryAfter: outcome.retryAfter,
        now: new Date(databaseNowMs()),
        random: Math.random(),
      });

/** `delayMs` counts from the time of settling. */
export type NextStep =
  | { status: 'SUCCEEDED' }
  | { status: 'FAILED'; reason: FailureReason | null }
  | { status: 'RETRY'; delayMs: number };

export interface RetryInput {
  succeeded: boolean;
  /** The receiver asked for no further attempt. */
  refused: boolean;
  /** The position in the schedule. */
  earlierFailures: number;
  scheduleMs: readonly number[];
  /** Unparsed (RFC 9110 §10.2.3). */
  retryAfter: string | null;
  now: Date;
  /** Uniform in [0, 1). */
  random: number;
}

const jitter = 0.1;
const maxRetryAfterMs = 86_400_000;

/** Applies ±10 % jitter to the schedule. Retry-After delays the next attempt, never hastens it. */
export function nextStep(input: RetryInput): NextStep {
  if (input.succeeded) return { status: 'SUCCEEDED' };
  if (input.refused) return { status: 'FAILED', reason: 'REFUSED' };
  const stepMs = input.scheduleMs[input.earlierFailures];
  if (stepMs === undefined) return { status: 'FAILED', reason: null };
  const jitteredMs = Math.round(stepMs * (1 - jitter + 2 * jitter * input.random));
  return { status: 'RETRY', delayMs: Math.max(jitteredMs, retryAfterMs(input.retryAfter, input.now)) };
}

/** Parses seconds or an HTTP date, at most 24 hours; 0 for anything else. */
export function retryAfterMs(header: string | null, now: Date): number {
  const text = header?.trim() ?? '';
  const waitMs = /^\d{1,15}$/.test(text) ? Number(text) * 1_000 : parseHttpDate(text, now) - now.getTime();
  return waitMs > 0 ? Math.min(waitMs, maxRetryAfterMs) : 0;
}

const days = 'Mon|Tue|Wed|Thu|Fri|Sat|Sun';
const longDays = 'Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday';
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const month = `(?<month>${months.join('|')})`;
const time = '(?<time>[0-2]\\d:[0-5]\\d:[0-5]\\d)';

/** RFC 9110 §5.6.7: the current form and two obsolete ones. */
const httpDates = [
  `(?:${days}), (?<day>\\d\\d) ${month} (?<year>\\d{4}) ${time} GMT`,
  `(?:${longDays}), (?<day>\\d\\d)-${month}-(?<year>\\d\\d) ${time} GMT`,
  `(?:${days}) ${month} (?<day>[ \\d]\\d) ${time} (?<year>\\d{4})`,
].map((form) => new RegExp(`^${form}$`));

/** Epoch milliseconds of an HTTP date, else NaN. Date.parse would accept much that is not one. */
function parseHttpDate(text: string, now: Date): number {
  const parts = httpDates.map((form) => form.exec(text)?.groups).find(Boolean);
  if (!parts) return Number.NaN;
  const year = fullYear(parts.year!, now);
  const monthOfYear = String(months.indexOf(parts.month!) + 1).padStart(2, '0');
  const dayOfMonth = parts.day!.replace(' ', '0');
  const date = new Date(`${year}-${monthOfYear}-${dayOfMonth}T${parts.time}Z`);
  return date.getUTCDate() === Number(dayOfMonth) ? date.getTime() : Number.NaN; // 31 February is no date
}

/** RFC 9110: two digits that would be more than 50 years ahead mean the century before. */
function fullYear(digits: string, now: Date): string {
  if (digits.length === 4) return digits;
  const thisYear = now.getUTCFullYear();
  const year = thisYear - (thisYear % 100) + Number(digits);
  return String(year > thisYear + 50 ? year - 100 : year);
}
