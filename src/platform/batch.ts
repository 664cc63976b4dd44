import { ApiError, unavailable } from './errors.js';

export interface BatchOptions<Item, Result> {
  maxItems: number;
  concurrency: number;
  /** Waiting items; one more is refused with UNAVAILABLE. */
  maxWaiting: number;
  /** How long a first item waits for others while no flush runs. Default: 0. */
  lingerMs?: () => number;
  onFlush?: ((items: number) => void) | undefined;
  flush(items: Item[]): Promise<Result[]>;
}

interface Waiting<Item, Result> {
  item: Item;
  since: number;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/** A second flush starts beside the first only for a full batch or after this wait: few, large statements. */
const besideAfterMs = 25;

/** Items that have waited this long fail with a flush that finds the database unavailable. */
export const patienceMs = 500;

/**
 * Group commit: callers that arrive during a flush share the next one. An idle batcher flushes at once (or after
 * `lingerMs`), so batching adds no latency without load. If the content of a batch is refused, its items are retried
 * one by one, so that each gets its own result. If the database is unavailable, long waiters fail at once.
 */
export function createBatcher<Item, Result>(options: BatchOptions<Item, Result>) {
  const waiting: Waiting<Item, Result>[] = [];
  let running = 0;
  let timer: NodeJS.Timeout | undefined;

  const takeImpatient = () => {
    const patient = waiting.findIndex(({ since }) => performance.now() - since < patienceMs);
    return waiting.splice(0, patient < 0 ? waiting.length : patient);
  };

  const flushTogether = async (batch: Waiting<Item, Result>[]) => {
    options.onFlush?.(batch.length);
    const results = await options.flush(batch.map(({ item }) => item));
    batch.forEach((caller, index) => caller.resolve(results[index] as Result));
  };

  const flushOrSplit = async (batch: Waiting<Item, Result>[]): Promise<void> => {
    try {
      await flushTogether(batch);
    } catch (error) {
      if (error instanceof ApiError) {
        for (const caller of [...batch, ...takeImpatient()]) caller.reject(error);
      } else if (batch.length === 1) {
        batch[0]?.reject(error);
      } else {
        for (const caller of batch) await flushOrSplit([caller]);
      }
    }
  };

  const untilFlushMs = (first: Waiting<Item, Result>) => {
    if (waiting.length >= options.maxItems) return 0;
    const lingerMs = running === 0 ? (options.lingerMs?.() ?? 0) : besideAfterMs;
    return Math.max(0, lingerMs - (performance.now() - first.since));
  };

  const pump = () => {
    for (let first = waiting[0]; first && running < options.concurrency; first = waiting[0]) {
      const waitMs = untilFlushMs(first);
      if (waitMs > 0) return pumpIn(waitMs);
      running += 1;
      void flushOrSplit(waiting.splice(0, options.maxItems)).finally(() => {
        running -= 1;
        pump();
      });
    }
  };

  const pumpIn = (waitMs: number) => {
    clearTimeout(timer);
    timer = setTimeout(pump, waitMs);
  };

  return {
    add: (item: Item): Promise<Result> =>
      new Promise((resolve, reject) => {
        if (waiting.length >= options.maxWaiting) return reject(unavailable('The service is overloaded.'));
        waiting.push({ item, since: performance.now(), resolve, reject });
        // Callers of one event-loop tick share the first flush.
        if (waiting.length === 1) setImmediate(pump);
        else if (waiting.length >= options.maxItems) pump();
      }),
  };
}
