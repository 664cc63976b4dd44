import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { recentMonths } from '../../../../src/engine/outbox/sql.js';
import { firstIdOf, timeOfId } from '../../../../src/platform/ids.js';

const dayMs = 86_400_000;
const moments = fc.integer({ min: Date.UTC(2024, 0), max: Date.UTC(2060, 0) });

test('the range covers whole months, from a week ago to a day ahead, at most two of them', () => {
  fc.assert(
    fc.property(moments, (nowMs) => {
      const { firstId, endId } = recentMonths(nowMs);
      const [first, end] = [firstId, endId].map((id) => new Date(timeOfId(id))) as [Date, Date];
      for (const bound of [first, end])
        expect(bound.toISOString()).toMatch(/^\d{4}-\d{2}-01T00:00:00\.000Z$/);
      expect(firstId <= firstIdOf(nowMs - 7 * dayMs)).toBe(true);
      expect(endId > firstIdOf(nowMs + dayMs)).toBe(true);
      expect(end.getTime() - first.getTime()).toBeLessThanOrEqual(62 * dayMs);
    }),
  );
});

test('different months have different names', () => {
  fc.assert(
    fc.property(moments, moments, (one, other) => {
      const [a, b] = [recentMonths(one), recentMonths(other)];
      expect(a.name === b.name).toBe(a.firstId === b.firstId && a.endId === b.endId);
    }),
  );
});
