import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { newTrackingId } from '../../../src/shipments/accept.js';

const moment = fc.integer({ min: 0, max: 32 ** 9 - 1 });

describe('a tracking id', () => {
  test('is PH and 18 characters of Crockford base 32, which has no ambiguous ones', () => {
    fc.assert(
      fc.property(moment, (nowMs) => {
        expect(newTrackingId(nowMs)).toMatch(/^PH[0-9A-HJKMNP-TV-Z]{18}$/);
      }),
    );
    expect(newTrackingId()).toMatch(/^PH[0-9A-HJKMNP-TV-Z]{18}$/);
  });

  test('sorts by creation time', () => {
    fc.assert(
      fc.property(moment, moment, (a, b) => {
        fc.pre(a !== b);
        expect(newTrackingId(a) < newTrackingId(b)).toBe(a < b);
      }),
    );
  });

  test('is never repeated, even within one millisecond', () => {
    const made = Array.from({ length: 10_000 }, () => newTrackingId(1_800_000_000_000));
    expect(new Set(made).size).toBe(made.length);
  });

  test('uses every character equally often at every random position', () => {
    const made = Array.from({ length: 6_400 }, () => newTrackingId(0).slice(11));
    for (let place = 0; place < 9; place += 1) {
      const counts = new Map<string, number>();
      for (const id of made) counts.set(id[place]!, (counts.get(id[place]!) ?? 0) + 1);
      expect(counts.size).toBe(32);
      for (const count of counts.values()) expect(Math.abs(count - 200)).toBeLessThan(110); // almost 8 sigma
    }
  });
});
