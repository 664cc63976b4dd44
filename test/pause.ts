import { setTimeout as sleep } from 'node:timers/promises';

const leastMs = 5;
const maxMs = 100;

/**
 * Between two looks at what a test has been waiting for since `startedAt`: a tenth of that time. Each look takes time
 * of the service and of PostgreSQL that other tests need.
 */
export const pause = (startedAt: number): Promise<void> =>
  sleep(Math.min(maxMs, Math.max(leastMs, (Date.now() - startedAt) / 10)));
