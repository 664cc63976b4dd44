import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  createSealer,
  maskHeaders,
  withoutQuery,
  createSecretBox,
} from '../../../../src/webhooks/sealing.js';

const sealer = createSealer(createSecretBox('k'.repeat(32)));
const id = '0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b';
const visible = fc.string({
  unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
});
const value = fc.string({
  unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)),
});

test('an address is restored as registered, and only the part before its query is readable', () => {
  fc.assert(
    fc.property(visible, (rest) => {
      const address = `https://example.org/hook${rest}`;
      const stored = sealer.sealAddress(id, address);
      expect(sealer.openAddress(id, stored)).toBe(address);
      expect(withoutQuery(stored)).toBe(withoutQuery(address));
      if (address.includes('?')) expect(stored).not.toBe(address);
    }),
  );
});

test('headers are restored as given, whatever the case of their names in storage', () => {
  fc.assert(
    fc.property(value, (text) => {
      const stored = sealer.sealHeaders(id, { 'X-Team': text });
      expect(sealer.openHeaders(id, stored)).toEqual({ 'X-Team': text });
      expect(sealer.openHeaders(id, { 'x-team': stored['X-Team']! })).toEqual({ 'x-team': text });
      expect(maskHeaders(stored)).toEqual({ 'X-Team': '••••' });
    }),
  );
});

test('an unsealed value cannot be opened', () => {
  fc.assert(
    fc.property(visible, value, (query, text) => {
      expect(() => sealer.openAddress(id, `https://example.org/hook?${query}`)).toThrow();
      expect(() => sealer.openHeaders(id, { 'X-A': text })).toThrow();
    }),
  );
});

test("a header's sealed value opens for no other header, query or webhook", () => {
  const { 'X-A': stored } = sealer.sealHeaders(id, { 'X-A': 'v' }) as { 'X-A': string };
  const other = '0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5c';
  expect(() => sealer.openHeaders(id, { 'X-B': stored })).toThrow();
  expect(() => sealer.openHeaders(other, { 'X-A': stored })).toThrow();
  expect(() => sealer.openAddress(id, `https://example.org/?${stored}`)).toThrow();
});
