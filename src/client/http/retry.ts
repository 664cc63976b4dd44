import { setTimeout as sleep } from 'node:timers/promises';
import { isTransient, type ParcelhookError } from '../errors.js';

export interface RetryLimits {
  retries: number;
  /** Deadline of the last try, on the clock of `performance.now()`. */
  endsAtMs: number;
  signal?: AbortSignal | undefined;
}

const firstBackoffMs = 250;
const maxBackoffMs = 10_000;

/** Doubles with each failure. Half of it is random, so that clients do not return all at once after an outage. */
export const backoffMs = (failures: number): number =>
  Math.min(firstBackoffMs * 2 ** failures, maxBackoffMs) * (0.5 + Math.random() / 2);

/** The backoff, or `Retry-After` if that is longer. */
export const retryWaitMs = ({ retryAfterMs }: ParcelhookError, failures: number): number =>
  Math.max(backoffMs(failures), retryAfterMs ?? 0);

/** Retries transient failures. Throws at once if the wait would pass the deadline. */
export async function withRetries<T>(
  attempt: () => Promise<T>,
  { retries, endsAtMs, signal }: RetryLimits,
): Promise<T> {
  for (let failures = 0; ; failures++) {
    try {
      return await attempt();
    } catch (error) {
      if (!isTransient(error) || failures >= retries) throw error;
      const waitMs = retryWaitMs(error, failures);
      if (performance.now() + waitMs >= endsAtMs) throw error;
      await pause(waitMs, signal);
    }
  }
}

/** Node turns a longer timer into one of 1 ms. */
export const maxTimerMs = 2 ** 31 - 1;

/** Rejects with the signal's reason when the signal aborts. */
export async function pause(waitMs: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleep(Math.min(waitMs, maxTimerMs), undefined, { ...(signal && { signal }) });
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}

interface WaitLimits {
  waitMs: number;
  timeoutError: () => Error;
  signal: AbortSignal | undefined;
}

/** Waits for a promise up to a limit. The work behind it goes on. */
export async function waitFor<T>(
  promise: Promise<T>,
  { waitMs, timeoutError, signal }: WaitLimits,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  let onAbort = () => {};
  const stopped = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(timeoutError()), Math.max(0, Math.min(waitMs, maxTimerMs)));
    onAbort = () => reject(signal!.reason as Error);
    if (signal?.aborted) onAbort();
    signal?.addEventListener('abort', onAbort);
  });
  try {
    return await Promise.race([promise, stopped]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}
