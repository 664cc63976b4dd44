import { ApiError, unavailable } from './errors.js';

export interface BatchOptions<Item, Result> {
  /** Most items in one flush. */
  maxItems: number;
  /** Flushes under way at once. */
  concurrency: number;
  /** Most items waiting; one more is refused as UNAVAILABLE. */
  maxWaiting: number;
  /** How long the first of a batch waits for company while no flush is under way; not at all without it. */
  lingerMs?: () => number;
  /** Told the size of every batch. */
  onFlush?: ((items: number) => void) | undefined;
  /** Handles a batch; answers one result per item, in order. */
  flush(items: Item[]): Promise<Result[]>;
}

export interface Batcher<Item, Result> {
  /** Resolves with this item's own result, or rejects with its own error. */
  add(item: Item): Promise<Result>;
}

interface Waiting<Item, Result> {
  item: Item;
  since: number;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/** A second flush runs beside the first only for a full batch or for who has waited this long: few, large statements. */
const besideAfterMs = 25;

/** Who has waited longer than this when somebody before it finds the database away is told so at once. */
export const patienceMs = 500;

/**
 * Group commit: while a flush is under way, callers collect; the next flush takes them all. An idle batcher
 * flushes at once (or after `lingerMs`), so batching costs no latency where there is no load. If a batch is refused
 * for what is in it (not because the database is away), its items are tried one by one, so that each gets its own
 * answer. If the database is away, nobody waits for one flush after the other to find that out again.
 */
export function createBatcher<Item, Result>(options: BatchOptions<Item, Result>): Batcher<Item, Result> {
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
    for (const [index, caller] of batch.entries()) caller.resolve(results[index] as Result);
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

  /** Milliseconds until the waiting ones are worth a flush; 0: they are. */
  const worthwhileInMs = (first: Waiting<Item, Result>) => {
    if (waiting.length >= options.maxItems) return 0;
    const lingerMs = running === 0 ? (options.lingerMs?.() ?? 0) : besideAfterMs;
    return Math.max(0, lingerMs - (performance.now() - first.since));
  };

  const pump = () => {
    for (let first = waiting[0]; first && running < options.concurrency; first = waiting[0]) {
      const waitMs = worthwhileInMs(first);
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
    add: (item) =>
      new Promise((resolve, reject) => {
        if (waiting.length >= options.maxWaiting) return reject(unavailable('The service is overloaded.'));
        waiting.push({ item, since: performance.now(), resolve, reject });
        // Callers of the same turn of the event loop share the first flush.
        if (waiting.length === 1) setImmediate(pump);
        else if (waiting.length >= options.maxItems) pump();
      }),
  };
}
