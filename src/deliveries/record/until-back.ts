import pRetry from 'p-retry';
import { ApiError } from '../../platform/errors.js';

/**
 * Does what must not be lost with an outage of PostgreSQL again until it succeeds, about every second for
 * `patienceMs`, as long as `goOn` says. Rejects with the last error; at once if it is not that something is out of reach.
 */
export const untilBack = <T>(
  task: () => Promise<T>,
  goOn: (error: unknown) => boolean,
  patienceMs: number,
): Promise<T> => {
  const mayPass = (error: unknown) => error instanceof ApiError && goOn(error);
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
