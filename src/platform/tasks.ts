import { setTimeout as sleep } from 'node:timers/promises';
import { describeError } from './errors.js';
import type { Logger } from './telemetry/logger.js';
import type { Metrics } from './telemetry/metrics.js';
import { isFaultOfPiece } from './database/postgres.js';

export interface TaskWatch {
  logger: Logger;
  metrics?: Pick<Metrics, 'taskDuration' | 'taskFailures' | 'taskSucceededAt' | 'taskInterval'>;
}

/** Adds metrics to a task. A failure is logged and counted, and resolves with null. */
function watched(
  intervalMs: number,
  name: string,
  { logger, metrics }: TaskWatch,
  task: () => Promise<number | void>,
): () => Promise<number | void | null> {
  metrics?.taskInterval.set({ task: name }, intervalMs / 1_000);
  metrics?.taskFailures.inc({ task: name }, 0);
  metrics?.taskDuration.zero({ task: name });
  metrics?.taskSucceededAt.setToCurrentTime({ task: name }); // lateness counts from here
  return async () => {
    const took = metrics?.taskDuration.startTimer({ task: name });
    try {
      const nextMs = await task();
      metrics?.taskSucceededAt.setToCurrentTime({ task: name });
      return nextMs;
    } catch (error) {
      metrics?.taskFailures.inc({ task: name });
      logger.warn({ task: name, error: describeError(error) }, 'background task failed; retrying');
      return null;
    } finally {
      took?.();
    }
  };
}

const firstRetryMs = 15_000;

/** The pause doubles with each failure, up to the interval. */
export const retryMs = (intervalMs: number, failures: number): number =>
  Math.min(intervalMs, firstRetryMs * 2 ** (failures - 1));

/**
 * Repeats a task, one run at a time. The task may resolve with the milliseconds until its next run. The first run comes
 * at once, or after `firstAfterMs`.
 */
export function every(
  intervalMs: number,
  name: string,
  watch: TaskWatch,
  task: () => Promise<number | void>,
  firstAfterMs = 0,
): {
  wake(): void;
  stop(): Promise<void>;
} {
  let stopped = false;
  let woken = false;
  let failures = 0;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  const attempt = watched(intervalMs, name, watch, task);

  const pauseMs = (result: number | void | null) => {
    failures = result === null ? failures + 1 : 0;
    return failures > 0 ? retryMs(intervalMs, failures) : (result ?? intervalMs);
  };
  const run = () => {
    timer = undefined;
    woken = false;
    running = attempt().then((result) => {
      // Jitter keeps workers from running in step.
      const waitMs = pauseMs(result) * (0.9 + 0.2 * Math.random());
      if (!stopped) timer = setTimeout(run, woken ? 0 : waitMs);
    });
  };
  if (firstAfterMs > 0) timer = setTimeout(run, firstAfterMs);
  else run();

  return {
    wake: () => {
      woken = true;
      if (stopped || !timer) return;
      clearTimeout(timer);
      run();
    },
    stop: () => {
      stopped = true;
      clearTimeout(timer);
      return running;
    },
  };
}

const maxScrapeWaitMs = 2_000;

/**
 * Reads figures when they are scraped, but not more often than every `leastMs`: a figure that nobody looks at costs
 * nothing. A scrape waits for the reading, but not for long. At most a tenth of the time is spent on it, as long as that
 * is at least every `maxIntervals` intervals.
 */
export function whenScraped(
  leastMs: number,
  name: string,
  watch: TaskWatch & { metrics: Pick<Metrics, 'askOnScrape'> },
  read: () => Promise<void>,
): { stop(): Promise<unknown> } {
  let stopped = false;
  let reading: Promise<unknown> = Promise.resolve();
  let nextAt = -Infinity;
  const attempt = watched(leastMs, name, watch, read);
  watch.metrics.askOnScrape(async () => {
    const startedAt = performance.now();
    if (!stopped && startedAt >= nextAt) {
      nextAt = Infinity;
      reading = attempt().then(() => {
        const tookMs = performance.now() - startedAt;
        nextAt = startedAt + pauseAfter(tookMs, leastMs, maxIntervals * leastMs);
      });
    }
    await Promise.race([reading, sleep(maxScrapeWaitMs, undefined, { ref: false })]);
  });
  return {
    stop: () => {
      stopped = true;
      return reading;
    },
  };
}

export const maxIntervals = 4;

/** The pause after which at most `share` of the time goes into the work; within bounds. */
export const pauseAfter = (tookMs: number, minMs: number, maxMs: number, share = 1 / 10): number =>
  Math.min(maxMs, Math.max(minMs, tookMs / share));

/**
 * If the search takes more than a tenth of the time, it runs less often, at least every `maxIntervals` intervals. If it
 * resolves with true it has found work, which took the time: the interval stays.
 */
export const sparing =
  (intervalMs: number, task: () => Promise<boolean | void>) => async (): Promise<number> => {
    const startedAt = performance.now();
    const hasFound = await task();
    return hasFound
      ? intervalMs
      : pauseAfter(performance.now() - startedAt, intervalMs, maxIntervals * intervalMs);
  };

/** A failed page is retried smaller; an item that fails alone is skipped, so nothing is retried for ever. */
export interface Place<Key> {
  /** The next page begins after this key; null for the first page. */
  after: Key | null;
  size: number;
}

export const walkStart = <Key>(size: number): Place<Key> => ({ after: null, size });

const shrinkBy = 8;

export const afterPage = <Key>({ size }: Place<Key>, last: Key | null, maxSize: number): Place<Key> => ({
  after: last,
  size: Math.min(2 * size, maxSize),
});

/** The next page begins at the same key and is much smaller; an item that failed alone (`first`) is skipped. */
export const afterFailure = <Key>(
  { after, size }: Place<Key>,
  first: Key | null,
): { place: Place<Key>; skipped: Key | null } =>
  size > 1
    ? { place: { after, size: Math.ceil(size / shrinkBy) }, skipped: null }
    : { place: { after: first, size: 1 }, skipped: first };

export function createWalk<Key>(
  maxSize: number,
  findFirst: (after: Key | null) => Promise<Key | null>,
  stepOver: (item: Key, error: unknown) => void,
) {
  let place: Place<Key> = walkStart(maxSize);
  return {
    /**
     * Rejects if `work` does. If the page is at fault, the next one is smaller, or begins after the item that failed
     * alone. `work` resolves with the page's last key, or null at the end.
     */
    page: async <Done extends { next: Key | null }>(
      work: (after: Key | null, size: number) => Promise<Done>,
    ): Promise<Done> => {
      try {
        const done = await work(place.after, place.size);
        place = afterPage(place, done.next, maxSize);
        return done;
      } catch (error) {
        if (!isFaultOfPiece(error)) throw error;
        const { place: next, skipped } = afterFailure(
          place,
          place.size > 1 ? null : await findFirst(place.after),
        );
        place = next;
        if (skipped !== null) stepOver(skipped, error);
        throw error;
      }
    },
  };
}

/**
 * `maxSize` at a time. A failed piece is split, and `stepOver` is called for an item that fails alone. Rejects if the
 * items are not at fault, for example when PostgreSQL is unavailable.
 */
export async function inPieces<Item>(
  items: readonly Item[],
  maxSize: number,
  work: (some: Item[]) => Promise<unknown>,
  stepOver: (item: Item, error: unknown) => void,
): Promise<void> {
  let place: Place<number> = walkStart(Math.min(maxSize, items.length));
  for (let from = 0; from < items.length; from = place.after ?? 0) {
    const some = items.slice(from, from + place.size);
    try {
      await work(some);
      place = afterPage(place, from + some.length, maxSize);
    } catch (error) {
      if (!isFaultOfPiece(error)) throw error;
      const { place: next, skipped } = afterFailure({ ...place, size: some.length }, from + 1);
      if (skipped !== null) stepOver(items[from]!, error);
      place = next;
    }
  }
}
