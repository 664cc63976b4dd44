import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { v7 as uuid } from 'uuid';
import { daysOf, rangesOf } from '../../../src/history/log/page-store.js';
import { type Partition, daysAhead, daysBehind } from '../../../src/history/retention/retention.js';
import { timeOfId } from '../../../src/platform/ids.js';

const dayMs = 86_400_000;
const moment = fc.integer({ min: 1, max: Date.now() + 10 * dayMs });
const maybe = fc.option(moment, { nil: undefined });
const dateOf = (ms: number | undefined) => (ms === undefined ? undefined : new Date(ms));

describe('the time ranges in which the log is read', () => {
  test('adjoin, from the newest to the oldest, without gaps', () => {
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

  test('begin with one day, so that a busy log is read from one or two partitions', () => {
    const [newest] = rangesOf({}, undefined);
    expect(Date.now() - newest!.from.getTime()).toBeLessThan(dayMs + 1_000);
    const [ofCursor] = rangesOf({}, uuid({ msecs: Date.now() - 20 * dayMs }));
    expect(ofCursor!.before.getTime() - ofCursor!.from.getTime()).toBe(dayMs);
  });

  test('that span few days cover exactly these days, with the same newest range', () => {
    fc.assert(
      fc.property(fc.integer({ min: -40 * dayMs, max: 0 }), fc.nat(4 * dayMs), (ago, lengthMs) => {
        const from = new Date(Date.now() + ago);
        const before = new Date(Math.min(from.getTime() + lengthMs, Date.now() + 3_600_000));
        const days = daysOf({ from, before });
        if (!days) return expect(lengthMs).toBeGreaterThan(2 * dayMs);
        expect(timeOfId(days.firstId)).toBeLessThanOrEqual(from.getTime());
        expect(timeOfId(days.endId)).toBeGreaterThanOrEqual(before.getTime());
        expect(timeOfId(days.endId) - timeOfId(days.firstId)).toBeLessThanOrEqual(3 * dayMs);
      }),
    );
    const [newest] = rangesOf({}, undefined);
    const [page] = rangesOf({}, uuid({ msecs: Date.now() - 60_000 }));
    expect(daysOf(newest!)).toMatchObject({ today: true });
    expect(daysOf(page!)).toEqual(daysOf(newest!));
  });

  test('include rows of another host whose clock is ahead', () => {
    expect(rangesOf({}, undefined)[0]!.before.getTime()).toBeGreaterThan(Date.now() + 60_000);
  });
});

describe('partitions', () => {
  const dayMs = 86_400_000;
  const nowMs = Date.UTC(2026, 10, 25, 12);
  const day = (table: string, offset: number): Partition => {
    const fromMs = Date.UTC(2026, 10, 25 + offset);
    return { table, fromMs, untilMs: fromMs + dayMs };
  };
  const both = (offsets: number[]) =>
    ['deliveries', 'attempts'].flatMap((table) => offsets.map((offset) => day(table, offset)));

  test('the days ahead end at the first day without a partition', () => {
    expect(daysAhead(both([-1, 0, 1, 2, 4, 5]), nowMs).get('deliveries')).toBe(2.5);
  });

  test('a table without a partition for now has no days ahead', () => {
    const ahead = daysAhead([...both([-3, -2]), day('deliveries', 2)], nowMs);
    expect(Object.fromEntries(ahead)).toEqual({ deliveries: 0, attempts: 0, events: 0 });
  });

  test('the days ahead fall by one a day while no partition is made', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 7 }), (days) => {
        const made = both([-1, 0, 1, 2, 3, 4, 5, 6, 7]);
        expect(daysAhead(made, nowMs + days * dayMs).get('attempts')).toBe(7.5 - days);
      }),
    );
  });

  test('the retention is behind by the age of its oldest day beyond the retention', () => {
    const behind = (offsets: number[]) => daysBehind(both(offsets), 30 * dayMs, nowMs).get('deliveries');
    expect(behind([-31, 0])).toBe(0.5);
    expect(behind([-40, -10])).toBe(9.5);
    expect([behind([-30, 0]), behind([])]).toEqual([0, 0]);
  });

  test('the partitions of events stay, so they are never behind', () => {
    const behind = daysBehind([{ table: 'events', fromMs: 0, untilMs: dayMs }], dayMs, nowMs);
    expect([...behind]).toEqual([
      ['deliveries', 0],
      ['attempts', 0],
    ]);
  });
});
