import { parseHttpDate } from './http-date.js';

/** What becomes of a delivery after an attempt. `delayMs` counts from the moment the result is recorded. */
export type NextStep = { status: 'SUCCEEDED' } | { status: 'FAILED' } | { status: 'RETRY'; delayMs: number };

export interface RetryInput {
  succeeded: boolean;
  /** Scheduled attempts that failed before this one: the position in the schedule. */
  earlierFailures: number;
  scheduleMs: readonly number[];
  /** The receiver's Retry-After header (RFC 9110 §10.2.3), as it came. */
  retryAfter: string | null;
  now: Date;
  /** Uniform in [0, 1). */
  random: number;
}

const jitter = 0.1;
const longestRetryAfterMs = 86_400_000;

/**
 * The retry schedule with ±10 % jitter; Retry-After delays the next attempt, never hastens it (contract, section 5).
 */
export function nextStep(input: RetryInput): NextStep {
  if (input.succeeded) return { status: 'SUCCEEDED' };
  const stepMs = input.scheduleMs[input.earlierFailures];
  if (stepMs === undefined) return { status: 'FAILED' };
  const jitteredMs = Math.round(stepMs * (1 - jitter + 2 * jitter * input.random));
  return { status: 'RETRY', delayMs: Math.max(jitteredMs, retryAfterMs(input.retryAfter, input.now)) };
}

/** Seconds or an HTTP date, at most 24 hours; anything else counts as none. */
export function retryAfterMs(header: string | null, now: Date): number {
  const text = header?.trim() ?? '';
  const waitMs = /^\d{1,15}$/.test(text) ? Number(text) * 1_000 : parseHttpDate(text, now) - now.getTime();
  return waitMs > 0 ? Math.min(waitMs, longestRetryAfterMs) : 0;
}
