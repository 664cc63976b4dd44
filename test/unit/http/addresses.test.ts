import { expect, test } from '@jest/globals';
import { networkOf } from '../../../src/http/origin.js';
import { isLoopback } from '../../../src/platform/networks.js';

test.each([
  ['192.0.2.1', '192.0.2.254', true],
  ['192.0.2.1', '192.0.3.1', false],
  ['::ffff:192.0.2.1', '192.0.2.9', true],
  ['2001:db8:0:1100::1', '2001:db8:0:11ff:ffff::9', true],
  ['2001:db8:0:1100::1', '2001:db8:0:1200::1', false],
  ['c000:200::1', '192.0.2.0', false],
])('%s and %s in one address block: %p', (a, b, same) => {
  expect(networkOf(a) === networkOf(b)).toBe(same);
});

test('an address block is written as CIDR', () => {
  const addresses = [
    '192.0.2.77',
    '::ffff:192.0.2.77',
    '2001:db8:0:1177::1',
    'fe80::1%eth0',
    'nonsense',
    undefined,
  ];
  expect(addresses.map(networkOf)).toEqual([
    ...['192.0.2.0/24', '192.0.2.0/24', '2001:db8:0:1100::/56', 'fe80::/56', 'unknown', 'unknown'],
  ]);
});

test.each([
  ['127.0.0.1', true],
  ['::ffff:127.8.0.1', true],
  ['::1', true],
  ['10.0.0.1', false],
  ['::', false],
  ['[::1]', true],
  ['localhost', true],
  ['app.localhost', true],
  ['localhost.example.com', false],
  ['127.0.0.1.example', false],
  ['', false],
])('loopback: %p is %p', (address, expected) => {
  expect(isLoopback(address)).toBe(expected);
});
