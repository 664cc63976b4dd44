import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { nearestName } from '../../../src/platform/issues.js';

const fields = ['lotId', 'trackingId', 'state', 'lat', 'lng', 'weightUnit'];

describe('the nearest name', () => {
  test.each([
    ['lotID', 'lotId'],
    ['lot_id', 'lotId'],
    ['loitId', 'lotId'],
    ['lotdI', 'lotId'],
    ['trakcingId', 'trackingId'],
    ['stae', 'state'],
    ['lng ', 'lng'],
    ['weigthUnits', 'weightUnit'],
  ])('of %s is %s', (given, meant) => expect(nearestName(given, fields)).toBe(meant));

  test.each(['targetAddress', 'x', '', 'lo', 'units', 'l'.repeat(10_000)])('%s has none', (given) =>
    expect(nearestName(given, fields)).toBeNull(),
  );

  test('is found over one swapped, one left out or one added letter, in every place', () => {
    const name = 'shipperDropoffDate';
    fc.assert(
      fc.property(fc.nat(name.length - 2), fc.constantFrom('swap', 'drop', 'add'), (at, kind) => {
        const pair = name[at + 1]! + name[at]!;
        const middle = { swap: pair, drop: name[at]!, add: `${name[at]!}x${name[at + 1]!}` }[kind];
        expect(nearestName(name.slice(0, at) + middle + name.slice(at + 2), [...fields, name])).toBe(name);
      }),
    );
  });
});
