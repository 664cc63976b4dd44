import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { setBackMs } from '../../../src/engine/sweep/clock.js';
import { afterPage, afterFailure, walkStart, type Place } from '../../../src/platform/walk.js';

const maxSize = 1_000;

function walkOver(costs: number[], maxPerPage: number) {
  const handled: number[] = [];
  const skipped: number[] = [];
  let tooSlow = 0;
  let place: Place<number> = walkStart(maxSize);
  do {
    const from = place.after ?? 0;
    const page = costs.slice(from, from + place.size);
    if (page.reduce((sum, cost) => sum + cost, 0) <= maxPerPage) {
      handled.push(...page.map((_, index) => from + index));
      place = afterPage(place, page.length === place.size ? from + page.length : null, maxSize);
    } else {
      tooSlow += 1;
      const next = afterFailure(place, from + 1);
      expect(next.place.size).toBeLessThanOrEqual(Math.max(1, place.size / 2));
      if (next.skipped !== null) skipped.push(from);
      place = next.place;
    }
  } while (place.after !== null || handled.length + skipped.length < costs.length);
  return { handled, skipped, tooSlow };
}

test('a walk handles every row that can be handled alone, and skips the others, once each', () => {
  const cost = fc.oneof(
    { weight: 20, arbitrary: fc.nat(3) },
    { weight: 1, arbitrary: fc.integer({ min: 11, max: 99 }) },
  );
  fc.assert(
    fc.property(fc.array(cost, { minLength: 1, maxLength: 3_000 }), (costs) => {
      const { handled, skipped } = walkOver(costs, 10);
      const isHandled = (index: number) => costs[index]! <= 10;
      expect(handled).toEqual([...costs.keys()].filter(isHandled));
      expect(skipped).toEqual([...costs.keys()].filter((index) => !isHandled(index)));
    }),
    { numRuns: 50 },
  );
});

test('one row that takes too long costs a walk a few pages', () => {
  fc.assert(
    fc.property(fc.nat(2_999), (at) => {
      const costs = Array.from({ length: 3_000 }, (_, index) => (index === at ? 2_000 : 0));
      expect(walkOver(costs, 1_999).tooSlow).toBeLessThanOrEqual(16);
    }),
  );
});

test('a clock put back is detected, and never overestimated, however slow the responses', () => {
  const ms = (max: number) => fc.nat(max);
  fc.assert(
    fc.property(
      fc.tuple(ms(5_000), ms(5_000), ms(5_000), ms(5_000)),
      fc.nat(60_000),
      fc.integer({ min: -10_000, max: 10_000_000 }),
      ([before, after, beforeAgain, afterAgain], betweenMs, backMs) => {
        const first = { databaseMs: before, sentAt: 0, receivedAt: before + after };
        const sentAt = first.receivedAt + betweenMs;
        const databaseMs = sentAt + beforeAgain - backMs;
        const found = setBackMs(first, {
          databaseMs,
          sentAt,
          receivedAt: sentAt + beforeAgain + afterAgain,
        });
        expect(found).toBeLessThanOrEqual(Math.max(0, backMs));
        if (backMs > 1_000 + after + beforeAgain) expect(found).toBe(backMs - after - beforeAgain);
      },
    ),
  );
});
