import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { daysAhead, daysBehind, type Partition } from '../../../../src/history/retention/log-days.js';

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
