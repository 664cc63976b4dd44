import { isPassing, type ParcelhookError } from '../errors.js';
import { pause } from './waiting.js';

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

/** Not before the service said. */
export const waitMsAfter = ({ retryAfterMs }: ParcelhookError, failures: number): number =>
  Math.max(backoffMs(failures), retryAfterMs ?? 0);

/**
 * Tries again after what may pass, as late as `Retry-After` says. Where the service asks for more time than is left,
 * the failure is told at once.
 */
export async function withRetries<T>(
  attempt: () => Promise<T>,
  { retries, endsAtMs, signal }: Patience,
): Promise<T> {
  for (let failures = 0; ; failures++) {
    try {
      return await attempt();
    } catch (error) {
      if (!isPassing(error) || failures >= retries) throw error;
      const waitMs = waitMsAfter(error, failures);
      if (performance.now() + waitMs >= endsAtMs) throw error;
      await pause(waitMs, signal);
    }
  }
}
