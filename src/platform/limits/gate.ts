import { tooManyRequests, unavailable } from '../errors.js';
import { createFairQueue, type FairQueue } from './fair-queue.js';

export interface TurnOptions {
  /** The lane in which it waits, 0 unless it is said. */
  lane?: number;
  /** Told when it is refused for the crowd under its key. */
  onCrowded?(): void;
}

export interface Gate {
  /**
   * Runs `work` when its turn comes. Where too many wait in its lane, it is the newest of the longest queue that is
   * refused: with ApiError TOO_MANY_REQUESTS, or UNAVAILABLE where each key has one waiting only; and so is who waits too
   * long.
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
  /** In each lane. */
  maxWaiting: number;
  maxWaitMs: number;
  /** Default 1. The earlier of them goes first, but a quarter of its turns it leaves to those behind it. */
  lanes?: number;
}

/** A bound on expensive work. Keys take turns, so that many waiting under one do not delay another. */
export function createGate(options: GateOptions): Gate {
  const lanes = Array.from({ length: options.lanes ?? 1 }, () => createFairQueue<Waiting>());
  const takeNext = createTurns(lanes);
  let free = options.concurrency;

  const enter = (key: string, { lane = 0, onCrowded }: TurnOptions): Promise<void> => {
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
      const queue = lanes[lane]!;
      queue.add(key, { start, refuse });
      const dropped = queue.size() > options.maxWaiting ? queue.takeFromLongest(key) : undefined;
      dropped?.item.refuse(dropped.left > 0);
    });
  };

  /** Hands the place on. */
  const leave = () => {
    for (;;) {
      const next = takeNext();
      if (next?.start()) return;
      if (!next) return void (free += 1);
    }
  };

  return {
    run: async (key, work, turn = {}) => {
      await enter(key, turn);
      return work().finally(leave);
    },
    waiting: (key) => lanes.reduce((sum, lane) => sum + lane.size(key), 0),
  };
}

const turnsOfFour = 3;

/** Takes from the first lane three times of four, and the fourth time from those behind it, in the same way. */
export function createTurns<Item>(lanes: FairQueue<Item>[]): () => Item | undefined {
  const turns = lanes.map(() => 0);
  const takeFrom = (n: number): Item | undefined => {
    const lane = lanes[n];
    if (!lane) return undefined;
    turns[n] = (turns[n]! + 1) % (turnsOfFour + 1);
    return turns[n] === 0 ? (takeFrom(n + 1) ?? lane.take()) : (lane.take() ?? takeFrom(n + 1));
  };
  return () => takeFrom(0);
}
