import { setTimeout as sleep } from 'node:timers/promises';

const leastMs = 5;
const maxMs = 100;

/** A tenth of the time waited since `startedAt`: each check uses time that other tests need. */
export const pause = (startedAt: number): Promise<void> =>
  sleep(Math.min(maxMs, Math.max(leastMs, (Date.now() - startedAt) / 10)));

/** Resolves with the milliseconds that took; rejects after `timeoutMs`, by default far longer than a busy machine takes. */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  timeoutMs = 60_000,
): Promise<number> {
  const startedAt = Date.now();
  while (!(await condition())) {
    if (Date.now() - startedAt > timeoutMs) throw new Error(`not within ${timeoutMs} ms: ${what}`);
    await pause(startedAt);
  }
  return Date.now() - startedAt;
}

/** A queue for tests that run concurrently with others: too many starts at once would distort measurements. */
export function inSequence(): (run: () => Promise<void>) => () => Promise<void> {
  let last: Promise<unknown> = Promise.resolve();
  return (run) => () => {
    const done = last.then(run);
    last = done.catch(() => undefined);
    return done;
  };
}
