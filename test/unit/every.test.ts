import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { setTimeout as sleep } from 'node:timers/promises';
import { pauseAfter, sparing } from '../../src/platform/every.js';

const upTo = (max: number) => fc.integer({ min: 1, max });

test('a task takes its share of the time at most, as long as its pause stays within bounds', () => {
  fc.assert(
    fc.property(
      fc.nat(60_000),
      fc.nat(10_000),
      fc.tuple(upTo(10), upTo(20)),
      (tookMs, leastMs, [times, of]) => {
        const mostMs = leastMs * times;
        const pauseMs = pauseAfter(tookMs, leastMs, mostMs, 1 / of);
        expect(pauseMs).toBeGreaterThanOrEqual(leastMs);
        expect(pauseMs).toBeLessThanOrEqual(mostMs);
        if (pauseMs < mostMs) expect(tookMs / (tookMs + pauseMs)).toBeLessThanOrEqual(1 / of);
        if (pauseMs > leastMs) expect(pauseMs).toBeLessThanOrEqual(of * tookMs + 0.001); // no longer than it must be
      },
    ),
  );
});

test('what looks for long and finds nothing comes more rarely; what it finds does not count', async () => {
  const looking = (hasFound: boolean) => sparing(100, async () => (await sleep(30), hasFound))();
  expect(await looking(false)).toBeGreaterThan(250);
  expect(await looking(false)).toBeLessThanOrEqual(400);
  expect(await looking(true)).toBe(100);
});
