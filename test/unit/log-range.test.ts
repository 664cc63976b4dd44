import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { v7 as uuid } from 'uuid';
import { rangesOf } from '../../src/deliveries/log-range.js';

const dayMs = 86_400_000;
const moment = fc.integer({ min: 1, max: Date.now() + 10 * dayMs });
const maybe = fc.option(moment, { nil: undefined });
const dateOf = (ms: number | undefined) => (ms === undefined ? undefined : new Date(ms));

describe('the pieces of time in which the log is read', () => {
  test('adjoin, from the newest to the oldest, and leave nothing out', () => {
    fc.assert(
      fc.property(maybe, maybe, maybe, (from, to, cursorAt) => {
        const beforeId = cursorAt === undefined ? undefined : uuid({ msecs: cursorAt });
        const ranges = rangesOf({ from: dateOf(from), to: dateOf(to) }, beforeId);
        const latest = Math.min(to ?? Infinity, cursorAt ?? Infinity, Date.now());
        expect(ranges.at(-1)!.from.getTime()).toBe(from ?? 0);
        expect(ranges[0]!.before.getTime()).toBeGreaterThanOrEqual(latest);
        if (to !== undefined) expect(ranges[0]!.before.getTime()).toBeLessThanOrEqual(to);
        for (const [n, range] of ranges.slice(1).entries()) expect(range.before).toEqual(ranges[n]!.from);
      }),
    );
  });

  test('begin with one day, so that a busy log is read in one partition or two', () => {
    const [newest] = rangesOf({}, undefined);
    expect(Date.now() - newest!.from.getTime()).toBeLessThan(dayMs + 1_000);
    const [ofCursor] = rangesOf({}, uuid({ msecs: Date.now() - 20 * dayMs }));
    expect(ofCursor!.before.getTime() - ofCursor!.from.getTime()).toBe(dayMs);
  });

  test('include what another host recorded whose clock is ahead', () => {
    expect(rangesOf({}, undefined)[0]!.before.getTime()).toBeGreaterThan(Date.now() + 60_000);
  });
});
