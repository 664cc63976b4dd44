import { setTimeout as sleep } from 'node:timers/promises';
import { isPassing } from '../errors.js';

export interface Patience {
  /** Tries after the first. */
  retries: number;
  /** When the last try is over, by `performance.now()`. */
  endsAtMs: number;
  signal?: AbortSignal | undefined;
}

const firstBackoffMs = 250;
const maxBackoffMs = 10_000;

/** Doubles with each failure, half of it by chance, so that clients of one outage do not come back together. */
export const backoffMs = (failures: number): number =>
  Math.min(firstBackoffMs * 2 ** failures, maxBackoffMs) * (0.5 + Math.random() / 2);

/**
 * Tries again after what may pass, as late as `Retry-After` says. Where the service asks for more time than is left,
 * the failure is told at once. `attempt` is given how many failed before.
 */
export async function withRetries<T>(
  attempt: (failures: number) => Promise<T>,
  { retries, endsAtMs, signal }: Patience,
): Promise<T> {
  for (let failures = 0; ; failures++) {
    try {
      return await attempt(failures);
    } catch (error) {
      if (!isPassing(error) || failures >= retries) throw error;
      const waitMs = Math.max(backoffMs(failures), error.retryAfterMs ?? 0);
      if (performance.now() + waitMs >= endsAtMs) throw error;
      await pause(waitMs, signal);
    }
  }
}

/** Rejects with the signal's reason when it is aborted. */
export async function pause(waitMs: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleep(waitMs, undefined, { ...(signal && { signal }) });
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}
