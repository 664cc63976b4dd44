import { tooManyRequests } from '../platform/errors.js';
import type { RateLimits } from '../platform/limits/rate-limit.js';

interface Count {
  /** Admitted requests that are not in the shared count yet. */
  unreported: number;
  reportedAt: number;
  /** The shared count is used up until then. */
  refusedUntil: number;
}

const secondsAveraged = 10;
const reportAfterMs = 1_000;
const maxShippers = 10_000;

/**
 * Allows a shipper `perSecond` requests, averaged over ten seconds so that a burst passes; 0 is unlimited. Throws
 * ApiError TOO_MANY_REQUESTS beyond. A request never waits for the shared count: requests are reported to it in the
 * background, a hundredth of the window's points or one second at a time. Each process may overdraw it by as much.
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
    if (counts.size >= maxShippers) counts.clear(); // the shared count still has them
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
      () => undefined, // a lost report limits no requests
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
