import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { z } from 'zod';
import { instantInBody, instantInQuery } from '../../../../src/http/request/fields.js';

const inQuery = instantInQuery('When');
const inBody = instantInBody('When', '2026-11-21T12:00:00Z');
const at = (text: string) => inQuery.safeParse(text).data?.toISOString();

test.each([
  ['2026-11-21', '2026-11-21T00:00:00.000Z'],
  ['2026-11-21T12:00Z', '2026-11-21T12:00:00.000Z'],
  ['2026-11-21T12:00:00.5+01:00', '2026-11-21T11:00:00.500Z'],
  ['2026-11-21T12:00:00 01:00', '2026-11-21T11:00:00.000Z'],
  ['2026-11-21T12:00:00-0100', '2026-11-21T13:00:00.000Z'],
  ['1795262400000', '2026-11-21T12:00:00.000Z'],
  ['0', '1970-01-01T00:00:00.000Z'],
  ['978307200000', '2001-01-01T00:00:00.000Z'],
  ['1912-06-23', '1970-01-01T00:00:00.000Z'],
  ['9999-12-31T23:59:59-23:59', '9999-12-31T23:59:59.999Z'],
])('%s is %s', (text, iso) => expect(at(text)).toBe(iso));

test.each([
  '',
  ' ',
  'x',
  '2026-02-30',
  '2026-13-01',
  '2026-11-21T12:00:00',
  '2026-11-21T24:00Z',
  '-1',
  '1e3',
  '1.5',
  '1',
  '1795262400',
  '978307199999',
])('%s is not a valid time', (text) => expect(at(text)).toBeUndefined());

test('everything that matches the documented pattern is a valid time', () => {
  const { pattern } = z.toJSONSchema(inQuery, { io: 'input' });
  fc.assert(
    fc.property(fc.stringMatching(new RegExp(pattern!)), (text) => {
      for (const schema of [inQuery, inBody]) {
        const ms = schema.parse(text)!.getTime();
        expect(ms).toBeGreaterThanOrEqual(0);
        expect(ms).toBeLessThanOrEqual(Date.parse('9999-12-31T23:59:59.999Z'));
      }
    }),
  );
});

test('in a body, a time may be a number of milliseconds, not of seconds', () => {
  expect(inBody.parse(978_307_200_000.5)).toEqual(new Date(978_307_200_000));
  for (const wrong of [-1, 1.5, 1_795_262_400, 978_307_199_999, 1e15, NaN, true, null, {}])
    expect(inBody.safeParse(wrong).success).toBe(false);
  for (const given of [1_795_262_400, '1795262400', 2.5e-323])
    expect(inBody.safeParse(given).error?.issues).toMatchObject([
      { message: expect.stringMatching(/looks like seconds$/) },
    ]);
});
