import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { hasMoreValues } from '../../../../src/http/request/body.js';

test('the values of a body are counted as in JSON, before it is parsed', () => {
  const valuesIn = (value: unknown): number =>
    1 +
    (value && typeof value === 'object'
      ? Object.values(value).reduce<number>((n, v) => n + valuesIn(v), 0)
      : 0);
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'binary' }), fc.constantFrom(undefined, 1), (value, indent) => {
      const bytes = Buffer.from(JSON.stringify(value, null, indent));
      const count = valuesIn(JSON.parse(bytes.toString()));
      expect([hasMoreValues(bytes, count), hasMoreValues(bytes, count - 1)]).toEqual([false, true]);
    }),
  );
});
