import pRetry from 'p-retry';
import { ApiError } from '../../platform/errors.js';

/**
 * Repeats `task` about every second for `patienceMs` while PostgreSQL is out of reach and `goOn` agrees. Rejects with
 * the last error; with any other error at once.
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
