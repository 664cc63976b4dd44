import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { isProgramToken, newProgramToken } from '../../../src/accounts/credentials.js';

const digits = [...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'];

/** As a scanner for leaked secrets computes it: CRC-32 (ISO 3309) in six digits of base 62. */
function checksum(text: string): string {
  let crc = 0xffffffff;
  for (const byte of Buffer.from(text)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  let rest = (crc ^ 0xffffffff) >>> 0;
  let encoded = '';
  for (let place = 0; place < 6; place += 1, rest = Math.floor(rest / 62))
    encoded = digits[rest % 62]! + encoded;
  return encoded;
}

const cells = fc.constantFrom(undefined, 'eu');

test('a token is phk_, the cell if there is one, 43 characters, and the checksum of all before it', () => {
  fc.assert(
    fc.property(cells, (cell) => {
      const token = newProgramToken(cell);
      expect(token).toMatch(cell ? /^phk_eu_[0-9A-Za-z]{49}$/ : /^phk_[0-9A-Za-z]{49}$/);
      expect(token.slice(-6)).toBe(checksum(token.slice(0, -6)));
      expect(isProgramToken(token)).toBe(true);
    }),
  );
});

test('a token with one other character, or cut off, is recognised as none', () => {
  fc.assert(
    fc.property(cells, fc.nat(52), fc.constantFrom(...digits), (cell, place, digit) => {
      const token = newProgramToken(cell);
      const changed = token.slice(0, place) + digit + token.slice(place + 1);
      expect(isProgramToken(changed)).toBe(changed === token);
      expect(isProgramToken(token.slice(0, place))).toBe(false);
    }),
  );
});
