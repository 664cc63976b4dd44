import { unavailable } from './errors.js';

export interface Gate {
  /** Runs `work` when its turn comes. Throws ApiError UNAVAILABLE at once where too many wait already. */
  run<T>(key: string, work: () => Promise<T>): Promise<T>;
  /** How many wait under this key. */
  waiting(key: string): number;
}

/** A bound on expensive work. Keys take turns, so that many waiting under one do not delay another. */
export function createGate(options: { concurrency: number; maxWaiting: number }): Gate {
  const queues = new Map<string, (() => void)[]>(); // in the order of their turns
  let free = options.concurrency;
  let waitingInAll = 0;

  const enter = (key: string): Promise<void> => {
    if (free > 0) {
      free -= 1;
      return Promise.resolve();
    }
    if (waitingInAll >= options.maxWaiting)
      return Promise.reject(unavailable('Too much at once; try again.'));
    waitingInAll += 1;
    return new Promise((start) => queues.set(key, [...(queues.get(key) ?? []), start]));
  };

  /** Hands the place on to the first of the key whose turn it is; that key goes to the end. */
  const leave = () => {
    const [turn] = queues;
    if (!turn) return void (free += 1);
    const [key, [start, ...others]] = turn;
    queues.delete(key);
    if (others.length > 0) queues.set(key, others);
    waitingInAll -= 1;
    start?.();
  };

  return {
    run: async (key, work) => {
      await enter(key);
      return work().finally(leave);
    },
    waiting: (key) => queues.get(key)?.length ?? 0,
  };
}
