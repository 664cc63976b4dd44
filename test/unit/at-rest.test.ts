import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { atRest, maskHeaders, withoutQuery } from '../../src/webhooks/at-rest/at-rest.js';
import { createSecretBox } from '../../src/webhooks/at-rest/secrets.js';

const sealed = atRest(createSecretBox('k'.repeat(32)));
const id = '0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b';
const visible = fc.string({
  unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
});
const value = fc.string({
  unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)),
});

test('an address comes back as it was registered, and only what stands before its query is readable', () => {
  fc.assert(
    fc.property(visible, (rest) => {
      const address = `https://example.org/hook${rest}`;
      const stored = sealed.sealAddress(id, address);
      expect(sealed.openAddress(id, stored)).toBe(address);
      expect(withoutQuery(stored)).toBe(withoutQuery(address));
      if (address.includes('?')) expect(stored).not.toBe(address);
    }),
  );
});

test('headers come back as they were given, whatever the case of their names in storage', () => {
  fc.assert(
    fc.property(value, (text) => {
      const stored = sealed.sealHeaders(id, { 'X-Team': text });
      expect(sealed.openHeaders(id, stored)).toEqual({ 'X-Team': text });
      expect(sealed.openHeaders(id, { 'x-team': stored['X-Team']! })).toEqual({ 'x-team': text });
      expect(maskHeaders(stored)).toEqual({ 'X-Team': '••••' });
    }),
  );
});

test('what is not sealed cannot be opened', () => {
  fc.assert(
    fc.property(visible, value, (query, text) => {
      expect(() => sealed.openAddress(id, `https://example.org/hook?${query}`)).toThrow();
      expect(() => sealed.openHeaders(id, { 'X-A': text })).toThrow();
    }),
  );
});

test("one header's sealed value opens as no other's, no query's and no other webhook's", () => {
  const { 'X-A': stored } = sealed.sealHeaders(id, { 'X-A': 'v' }) as { 'X-A': string };
  const other = '0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5c';
  expect(() => sealed.openHeaders(id, { 'X-B': stored })).toThrow();
  expect(() => sealed.openHeaders(other, { 'X-A': stored })).toThrow();
  expect(() => sealed.openAddress(id, `https://example.org/?${stored}`)).toThrow();
});
