import { afterEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  databaseClockAheadMs,
  databaseNowMs,
  followDatabaseClock,
  heedDatabaseTime,
  machineAheadMs,
} from '../../../src/platform/clock.js';

const before = databaseClockAheadMs();
afterEach(() => followDatabaseClock(before));

/** PostgreSQL's clock, so far ahead of this machine's, is told by a response that took so long. */
const tell = (aheadMs: number, tookMs: number) =>
  heedDatabaseTime(Date.now() + aheadMs - tookMs / 2, performance.now() - tookMs);

describe("PostgreSQL's clock", () => {
  test('stays that of the machine while no reading contradicts it, however slow the responses', () => {
    for (const tookMs of [2, 200, 20_000]) tell(0, tookMs);
    expect(databaseClockAheadMs()).toBe(before);
    expect(Math.abs(databaseNowMs() - Date.now())).toBeLessThan(5);
  });

  test('is known to within the time of a response, whichever way the machine is off and was off before', () => {
    const hourMs = 3_600_000;
    fc.assert(
      fc.property(
        fc.integer({ min: -hourMs, max: hourMs }),
        fc.integer({ min: -hourMs, max: hourMs }),
        fc.integer({ min: 0, max: 5_000 }),
        (first, second, tookMs) => {
          tell(first, tookMs);
          tell(second, tookMs);
          expect(Math.abs(databaseNowMs() - Date.now() - second)).toBeLessThanOrEqual(tookMs / 2 + 20);
          expect(Math.abs(machineAheadMs() + second)).toBeLessThanOrEqual(tookMs / 2 + 20);
        },
      ),
    );
  });

  test("does not follow a change of the machine's clock", () => {
    const real = Date.now;
    const shown = databaseNowMs();
    Date.now = () => real() + 600_000;
    try {
      expect(databaseNowMs() - shown).toBeLessThan(1_000);
      expect(Math.round(machineAheadMs() / 1_000)).toBe(600);
    } finally {
      Date.now = real;
    }
  });
});
