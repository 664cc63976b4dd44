import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { pauseAfter } from '../../src/platform/every.js';

test('a task takes a tenth of the time at most, as long as its pause stays within bounds', () => {
  fc.assert(
    fc.property(fc.nat(60_000), fc.nat(10_000), fc.integer({ min: 1, max: 10 }), (tookMs, leastMs, times) => {
      const mostMs = leastMs * times;
      const pauseMs = pauseAfter(tookMs, leastMs, mostMs);
      expect(pauseMs).toBeGreaterThanOrEqual(leastMs);
      expect(pauseMs).toBeLessThanOrEqual(mostMs);
      if (pauseMs < mostMs) expect(tookMs / (tookMs + pauseMs)).toBeLessThanOrEqual(1 / 10);
      if (pauseMs > leastMs) expect(pauseMs).toBeLessThanOrEqual(10 * tookMs); // no longer than it must be
    }),
  );
});
