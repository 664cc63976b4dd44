import type { Response } from 'express';
import { tooManyRequests } from '../../platform/errors.js';

export interface FeedBounds {
  /** Takes a place among those who wait; what gives it back. Throws ApiError TOO_MANY_REQUESTS where there is none. */
  wait(shipperId: string): () => void;
  /** How many wait. */
  waiting(): number;
  /** Counts an answer until its client has taken it. Throws ApiError TOO_MANY_REQUESTS where too much is untaken. */
  answer(shipperId: string, sizeBytes: number, response: Response): void;
}

export interface FeedBoundsOptions {
  /** Of one shipper, and of all: each keeps a connection. */
  maxWaiting: number;
  maxWaitingInAll: number;
  /** Of one shipper; what is alone may have more. */
  maxUntakenBytes: number;
  onRefused(): void;
}

/** What the feed's readers may have of this process at once. */
export function createFeedBounds(options: FeedBoundsOptions): FeedBounds {
  const waiting = new Map<string, number>();
  const untaken = new Map<string, number>();
  let inAll = 0;

  const add = (counts: Map<string, number>, key: string, amount: number) => {
    const count = (counts.get(key) ?? 0) + amount;
    if (count > 0) counts.set(key, count);
    else counts.delete(key);
  };
  const refuse = (message: string) => {
    options.onRefused();
    return tooManyRequests(message, 1);
  };

  return {
    wait: (shipperId) => {
      if ((waiting.get(shipperId) ?? 0) >= options.maxWaiting)
        throw refuse(`At most ${options.maxWaiting} requests may wait at once.`);
      if (inAll >= options.maxWaitingInAll) throw refuse('Too many requests are waiting.');
      add(waiting, shipperId, 1);
      inAll += 1;
      return () => {
        add(waiting, shipperId, -1);
        inAll -= 1;
      };
    },
    waiting: () => inAll,
    answer: (shipperId, sizeBytes, response) => {
      const before = untaken.get(shipperId) ?? 0;
      if (before > 0 && before + sizeBytes > options.maxUntakenBytes)
        throw refuse('Too many answers are not read.');
      if (response.destroyed) return; // it tells of its end only once, and has
      add(untaken, shipperId, sizeBytes);
      response.once('close', () => add(untaken, shipperId, -sizeBytes));
    },
  };
}
