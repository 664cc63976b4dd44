import type { Response } from 'express';
import { tooManyRequests } from '../platform/errors.js';

export interface FeedBounds {
  /** The returned function frees the place. Throws TOO_MANY_REQUESTS if full. */
  wait(shipperId: string): () => void;
  waiting(): number;
  /** Counted until its client has read it. Throws TOO_MANY_REQUESTS if too much is unread. */
  countResponse(shipperId: string, sizeBytes: number, response: Response): void;
}

export interface FeedBoundsOptions {
  /** Requests of one shipper, and of all; each holds a connection. */
  maxWaiting: number;
  maxWaitingInAll: number;
  /** Per shipper; a single response may exceed it. */
  maxUnreadBytes: number;
  onRefused(): void;
}

export function createFeedBounds(options: FeedBoundsOptions): FeedBounds {
  const waiting = new Map<string, number>();
  const unread = new Map<string, number>();
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
    countResponse: (shipperId, sizeBytes, response) => {
      const before = unread.get(shipperId) ?? 0;
      if (before > 0 && before + sizeBytes > options.maxUnreadBytes)
        throw refuse('Too many responses are unread.');
      if (response.destroyed) return; // `close` was emitted already
      add(unread, shipperId, sizeBytes);
      response.once('close', () => add(unread, shipperId, -sizeBytes));
    },
  };
}
