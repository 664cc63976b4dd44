import { LRUCache } from 'lru-cache';
import { RateLimiterRedis } from 'rate-limiter-flexible';
import { connectRedis } from '../redis.js';

/** Points are negative if overdrawn; the time is until the key has all of them again. */
export interface Balance {
  left: number;
  resetMs: number;
}

/** A window begins with the first point spent. Neither function rejects. */
export interface RateLimit {
  spend(key: string, points?: number): Promise<Balance>;
  balance(key: string): Promise<Balance>;
}

export interface RateLimits {
  limit(options: { name: string; points: number; windowSeconds: number }): RateLimit;
  close(): Promise<void>;
}

/** Keys that a process counts alone, per limit. Strangers choose how many there are, so the oldest is dropped. */
const maxKeys = 20_000;
/** The limit if Redis hangs. */
const commandTimeoutMs = 150;

/**
 * Counts in Redis, so that all processes share a limit. Without `redisUrl`, and while Redis is unavailable or slow,
 * each process counts alone. Keys go to Redis as given, so they must have no secret.
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
        balance: (key) => limiter.get(key).then(balance, () => alone.balance(key)),
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
    balance: (key) => {
      const now = performance.now();
      const count = current(key, now);
      return Promise.resolve(
        count ? { left: points - count.spent, resetMs: count.endsAt - now } : { left: points, resetMs: 0 },
      );
    },
  };
}
