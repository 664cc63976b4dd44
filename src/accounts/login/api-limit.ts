import { tooManyRequests } from '../../platform/errors.js';
import type { RateLimits } from '../../platform/limits/rate-limit.js';

interface Count {
  /** Requests let through that the shared count does not know of yet. */
  unreported: number;
  reportedAt: number;
  /** Until then the shared count is used up. */
  refusedUntil: number;
}

const secondsAveraged = 10;
const reportAfterMs = 1_000;
const rememberedShippers = 10_000;

/**
 * Lets a shipper make `perSecond` requests, averaged over ten seconds, so that a burst passes; 0 is any number.
 * Throws ApiError TOO_MANY_REQUESTS beyond. A request never waits for the shared count: it is told of requests
 * behind their back, a hundredth of the window's points or a second's worth at a time, and so may be overdrawn by
 * as much in each process.
 */
export function createApiLimit(
  limits: RateLimits,
  perSecond: number,
  onLimited: (limit: 'api') => void,
  timeScale = 1,
): (shipperId: string) => void {
  if (perSecond === 0) return () => undefined;
  const points = perSecond * secondsAveraged;
  const windowSeconds = Math.ceil(secondsAveraged * timeScale);
  const block = Math.ceil(points / 100);
  const shared = limits.limit({ name: 'api', points, windowSeconds });
  const counts = new Map<string, Count>();

  const countOf = (shipperId: string): Count => {
    const known = counts.get(shipperId);
    if (known) return known;
    if (counts.size >= rememberedShippers) counts.clear(); // what is lost here the shared count still knows
    const count = { unreported: 0, reportedAt: -Infinity, refusedUntil: -Infinity };
    counts.set(shipperId, count);
    return count;
  };

  const report = (shipperId: string, count: Count, now: number) => {
    const spent = count.unreported;
    count.unreported = 0;
    count.reportedAt = now;
    shared.spend(shipperId, spent).then(
      ({ left, resetMs }) => {
        if (left <= 0) count.refusedUntil = performance.now() + resetMs;
      },
      () => undefined, // a count that is lost limits nobody
    );
  };

  return (shipperId) => {
    const now = performance.now();
    const count = countOf(shipperId);
    if (now < count.refusedUntil) {
      onLimited('api');
      throw tooManyRequests('Too many requests.', (count.refusedUntil - now) / 1_000);
    }
    count.unreported += 1;
    if (count.unreported >= block || now - count.reportedAt >= reportAfterMs) report(shipperId, count, now);
  };
}
