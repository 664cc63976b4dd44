import { tooManyRequests, unavailable } from '../errors.js';
import { createFairQueue } from './fair-queue.js';

export interface TurnOptions {
  /** Waits in a lane of its own, which has every second turn. */
  favoured?: boolean;
  /** Told when it is refused for the crowd under its key. */
  onCrowded?(): void;
}

export interface Gate {
  /**
   * Runs `work` when its turn comes. Where too many wait, it is the newest of the longest queue that is refused: with
   * ApiError TOO_MANY_REQUESTS, or UNAVAILABLE where each key has one waiting only; and so is who waits too long.
   */
  run<T>(key: string, work: () => Promise<T>, options?: TurnOptions): Promise<T>;
  /** How many wait under this key. */
  waiting(key: string): number;
}

interface Waiting {
  /** False where it has been given up. */
  start(): boolean;
  refuse(crowd: boolean): void;
}

export interface GateOptions {
  concurrency: number;
  maxWaiting: number;
  maxWaitMs: number;
}

/** A bound on expensive work. Keys take turns, so that many waiting under one do not delay another. */
export function createGate(options: GateOptions): Gate {
  const lanes = {
    favoured: createFairQueue<Waiting>(options.maxWaiting),
    common: createFairQueue<Waiting>(options.maxWaiting),
  };
  let free = options.concurrency;
  let favouredNext = true;

  const enter = (key: string, { favoured, onCrowded }: TurnOptions): Promise<void> => {
    if (free > 0) {
      free -= 1;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      let over = false;
      const refuse = (crowd: boolean) => {
        over = true;
        clearTimeout(timer);
        if (crowd) onCrowded?.();
        const message = 'Too much at once; try again.';
        reject(crowd ? tooManyRequests(message, 1) : unavailable(message));
      };
      const timer = setTimeout(() => refuse(false), options.maxWaitMs);
      const start = () => {
        if (over) return false;
        clearTimeout(timer);
        resolve();
        return true;
      };
      const full = lanes[favoured ? 'favoured' : 'common'].add(key, { start, refuse });
      full?.dropped.refuse(full.crowd);
    });
  };

  /** Hands the place on: the lanes take turns, and the keys in each of them. */
  const leave = () => {
    const { favoured, common } = lanes;
    for (;;) {
      const next = favouredNext ? (favoured.take() ?? common.take()) : (common.take() ?? favoured.take());
      favouredNext = !favouredNext;
      if (next?.start()) return;
      if (!next) return void (free += 1);
    }
  };

  return {
    run: async (key, work, turn = {}) => {
      await enter(key, turn);
      return work().finally(leave);
    },
    waiting: (key) => lanes.favoured.waiting(key) + lanes.common.waiting(key),
  };
}
