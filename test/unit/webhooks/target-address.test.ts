import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { addressPattern, checkTargetAddress } from '../../../src/engine/send/target-address.js';
import { isDeniedAddress, type DestinationPolicy } from '../../../src/engine/send/destination.js';

const strict: DestinationPolicy = {
  allowPrivateTargets: false,
  allowHttpTargets: false,
  allowedPorts: [80, 443, 8080, 8443],
  isDenied: () => false,
  publicUrl: null,
};
const open: DestinationPolicy = { ...strict, allowPrivateTargets: true, allowHttpTargets: true };

const name = (labels: number) => `${'a'.repeat(49)}.`.repeat(labels);

test.each([
  [strict, 'https://example.org', true],
  [strict, 'https://Example.org:8443/hook?a=b', true],
  [strict, 'https://example.org:81', false],
  [strict, 'http://example.org/', false],
  [strict, 'https://localhost/', false],
  [strict, `https://${name(5)}shop`, false],
  [strict, `https://${name(5)}io/`, true],
  [open, 'http://localhost:9000/', true],
  [open, 'http://127.0.0.1:65535/', true],
  [open, 'http://[::1]:9000/', true],
  [open, 'http://127.0.0.1:65536/', false],
  [open, 'http://127.0.0.256/', false],
  [open, 'http://a/b#c', false],
  [open, 'http://a/b\\c', false],
  [open, 'http://a b/', false],
])('%j: the pattern and the service agree on %s: %s', (policy, address, taken) => {
  expect(new RegExp(addressPattern(policy)).test(address)).toBe(taken);
  expect(checkTargetAddress(address, policy) === null).toBe(taken);
});

test('everything that matches the pattern is accepted', () => {
  const text = addressPattern(open).replace(/\(\?=.*?\$\)\)/, ''); // fast-check does not support lookahead
  fc.assert(
    fc.property(fc.stringMatching(new RegExp(text)), (address) => {
      fc.pre(new RegExp(addressPattern(open)).test(address) && !/xn--/i.test(address));
      expect(checkTargetAddress(address, open)).toBeNull();
    }),
  );
});

test('an address is looked up once in the denied networks, however many webhooks have it', () => {
  let looks = 0;
  const isDenied = () => (looks += 1) === 0;
  for (let n = 0; n < 10; n += 1) isDeniedAddress(`8.8.8.${n}`, { ...strict, isDenied });
  expect(looks).toBe(10);
});
