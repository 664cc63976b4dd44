import { LRUCache } from 'lru-cache';
import { RateLimiterRedis } from 'rate-limiter-flexible';
import { connectRedis } from '../queue/connect-redis.js';

/** What a key has left (less than none if it was overdrawn), and when it has all its points again. */
export interface Balance {
  left: number;
  resetMs: number;
}

/** So many points for every key in a window, which begins with the first spent. Neither function rejects. */
export interface RateLimit {
  spend(key: string, points?: number): Promise<Balance>;
  look(key: string): Promise<Balance>;
}

export interface RateLimits {
  limit(options: { name: string; points: number; windowSeconds: number }): RateLimit;
  close(): Promise<void>;
}

/**
 * Keys that a process counts by itself, for each limit: strangers choose how many there are, so the oldest is
 * forgotten.
 */
const maxKeys = 20_000;
/** The longest a request waits for a Redis that hangs. */
const commandTimeoutMs = 150;

/**
 * Counts in Redis, so that all processes share a limit; without `redisUrl`, and while Redis is away or does not answer
 * in time, each process counts for itself. Keys go to Redis as they are given: nothing secret may be in them.
 */
export function createRateLimits(redisUrl: string | undefined, prefix: string): RateLimits {
  const redis = redisUrl === undefined ? null : connectRedis(redisUrl, 'fast', commandTimeoutMs);
  redis?.on('error', () => undefined); // the queue's connection to the same Redis reports it
  return {
    limit: ({ name, points, windowSeconds }) => {
      const alone = countAlone(points, windowSeconds);
      if (!redis) return alone;
      const limiter = new RateLimiterRedis({
        points,
        duration: windowSeconds,
        keyPrefix: `${prefix}:limit:${name}`,
        storeClient: redis,
        rejectIfRedisNotReady: true,
      });
      const balance = (state: { consumedPoints: number; msBeforeNext: number } | null): Balance =>
        state && state.msBeforeNext > 0
          ? { left: points - state.consumedPoints, resetMs: state.msBeforeNext }
          : { left: points, resetMs: 0 };
      return {
        spend: (key, spent = 1) => limiter.penalty(key, spent).then(balance, () => alone.spend(key, spent)),
        look: (key) => limiter.get(key).then(balance, () => alone.look(key)),
      };
    },
    close: () => Promise.resolve(redis?.disconnect()),
  };
}

function countAlone(points: number, windowSeconds: number): RateLimit {
  const counts = new LRUCache<string, { spent: number; endsAt: number }>({ max: maxKeys });
  const current = (key: string, now: number) => {
    const count = counts.get(key);
    return count && count.endsAt > now ? count : undefined;
  };
  return {
    spend: (key, spent = 1) => {
      const now = performance.now();
      const count = current(key, now) ?? { spent: 0, endsAt: now + windowSeconds * 1_000 };
      count.spent += spent;
      counts.set(key, count);
      return Promise.resolve({ left: points - count.spent, resetMs: count.endsAt - now });
    },
    look: (key) => {
      const now = performance.now();
      const count = current(key, now);
      return Promise.resolve(
        count ? { left: points - count.spent, resetMs: count.endsAt - now } : { left: points, resetMs: 0 },
      );
    },
  };
}
