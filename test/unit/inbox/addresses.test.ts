import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createInboxAddresses } from '../../../src/inbox/boxes.js';

const base = 'http://127.0.0.1:8080';
const addresses = createInboxAddresses(base, 'a secret');
const tokenOf = (shipperId: string) => addresses.addressOf(shipperId).slice(`${base}/inbox/`.length);

test('an address identifies its shipper, and nobody else can make one', () => {
  fc.assert(
    fc.property(fc.uuid(), (shipperId) => {
      const token = tokenOf(shipperId);
      expect(token).toMatch(/^[\w-]{43}$/);
      expect(addresses.shipperOf(token)).toBe(shipperId);
      expect(createInboxAddresses(base, 'another secret').shipperOf(token)).toBeNull();
    }),
  );
});

test('a changed or made-up token identifies nobody', () => {
  const token = tokenOf('0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b');
  fc.assert(
    fc.property(fc.nat(42), fc.constantFrom(...'Aa0_-'), (at, character) => {
      const changed = token.slice(0, at) + character + token.slice(at + 1);
      fc.pre(changed !== token);
      expect(addresses.shipperOf(changed)).toBeNull();
    }),
  );
  fc.assert(fc.property(fc.string(), (text) => void expect(addresses.shipperOf(text)).toBeNull()));
});
