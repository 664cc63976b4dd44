import pRetry from 'p-retry';
import { ApiError } from '../platform/errors.js';

/** An outage of PostgreSQL this long costs no attempt a second time. */
const patienceMs = 60_000;

/**
 * Does what must not be lost with an outage of PostgreSQL again until it succeeds, about every second for a minute,
 * as long as `goOn` says. Rejects with the last error; at once if it is not that something is out of reach.
 */
export const untilBack = <T>(task: () => Promise<T>, goOn: () => boolean): Promise<T> => {
  const mayPass = (error: unknown) => error instanceof ApiError && goOn();
  return task().catch((error: unknown) => {
    if (!mayPass(error)) throw error;
    return pRetry(task, {
      retries: Infinity,
      minTimeout: 250,
      maxTimeout: 1_000,
      maxRetryTime: patienceMs,
      shouldRetry: (attempt) => mayPass(attempt.error),
    });
  });
};
