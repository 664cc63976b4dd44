import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { cursorForm, decodeCursor, encodeCursor } from '../../../src/feed/store.js';
import { horizonOf } from '../../../src/feed/extent-store.js';

const low = (id: bigint) => id % (1n << 32n);
const id = fc.bigInt({ min: 1n << 31n, max: 1n << 48n });

test('the horizon is the first transaction that may still record, in any cycle of the ids', () => {
  const behind = fc.array(fc.bigInt({ min: 0n, max: (1n << 31n) - 1n }));
  fc.assert(
    fc.property(id, behind, (next, distances) => {
      const running = distances.map((distance) => next - distance);
      const expected = running.reduce((first, one) => (one < first ? one : first), next);
      const oldest = running.reduce((first, one) => (one < first ? one : first), next) - 1n;
      expect(horizonOf({ next, oldest, writers: running.map(low) })).toBe(expected);
      expect(horizonOf({ next, oldest, writers: [...running.map(low), null] })).toBe(oldest);
    }),
  );
});

test('a writer that began after the read changes nothing', () => {
  fc.assert(
    fc.property(id, fc.bigInt({ min: 0n, max: (1n << 31n) - 1n }), (next, ahead) => {
      expect(horizonOf({ next, oldest: next, writers: [low(next + ahead)] })).toBe(next);
    }),
  );
});

test('a cursor decodes to what was encoded', () => {
  const cursor = fc.record({
    epoch: fc.uuid(),
    position: fc.bigInt({ min: 0n, max: (1n << 63n) - 1n }),
    eventId: fc.uuid(),
    timeMs: fc.nat({ max: 2 ** 48 - 1 }),
  });
  fc.assert(
    fc.property(cursor, (one) => {
      expect(encodeCursor(one)).toMatch(cursorForm);
      expect(decodeCursor(encodeCursor(one))).toEqual(one);
    }),
  );
});
