import { RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible';
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
      const options = { points, duration: windowSeconds, keyPrefix: `${prefix}:limit:${name}` };
      const alone = new RateLimiterMemory(options);
      const limiter = redis
        ? new RateLimiterRedis({
            ...options,
            storeClient: redis,
            rejectIfRedisNotReady: true,
            insuranceLimiter: alone,
          })
        : alone;
      const balance = (state: { consumedPoints: number; msBeforeNext: number } | null): Balance =>
        state && state.msBeforeNext > 0
          ? { left: points - state.consumedPoints, resetMs: state.msBeforeNext }
          : { left: points, resetMs: 0 };
      return {
        spend: async (key, spent = 1) => balance(await limiter.penalty(key, spent)),
        look: async (key) => balance(await limiter.get(key)),
      };
    },
    close: () => Promise.resolve(redis?.disconnect()),
  };
}
