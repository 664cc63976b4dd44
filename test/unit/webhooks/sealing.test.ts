import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  createSealer,
  createSecretBox,
  maskHeaders,
  newSecret,
  withoutQuery,
} from '../../../src/engine/send/sealing.js';

describe('secrets', () => {
  const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 200 });
  const where = { webhookId: '0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b', field: 'secret' };
  const key = fc.string({ minLength: 32, maxLength: 64 });

  describe('the secret box', () => {
    test('opens what it sealed, also in another process with the same key', () => {
      fc.assert(
        fc.property(key, text, (key, secret) => {
          const sealed = createSecretBox(key).seal(secret, where);
          expect(createSecretBox(key).open(sealed, where)).toBe(secret);
        }),
      );
    });

    test('reveals nothing of the secret and seals it differently each time', () => {
      const box = createSecretBox('k'.repeat(32));
      const secret = newSecret();
      const sealed = Array.from({ length: 20 }, () => box.seal(secret, where));
      expect(new Set(sealed).size).toBe(20);
      for (const one of sealed) {
        expect(one).not.toContain(secret.slice('whsec_'.length));
        expect(Buffer.from(one.split('.').at(-1)!, 'base64url').toString()).not.toContain('whsec_');
      }
    });

    test('refuses a value changed at any position', () => {
      fc.assert(
        fc.property(text, fc.nat(), fc.integer({ min: 1, max: 255 }), (secret, place, change) => {
          const [id, ...parts] = createSecretBox('k'.repeat(32)).seal(secret, where).split('.');
          const bytes = parts.map((part) => Buffer.from(part, 'base64url'));
          const total = bytes.reduce((sum, part) => sum + part.length, 0);
          let at = place % total;
          for (const part of bytes) {
            if (at >= 0 && at < part.length) part[at]! ^= change;
            at -= part.length;
          }
          const changed = [id, ...bytes.map((part) => part.toString('base64url'))].join('.');
          expect(() => createSecretBox('k'.repeat(32)).open(changed, where)).toThrow();
        }),
      );
    });

    test('reports a value sealed with another key', () => {
      fc.assert(
        fc.property(key, key, text, (one, other, secret) => {
          fc.pre(one !== other);
          const sealed = createSecretBox(one).seal(secret, where);
          expect(() => createSecretBox(other).open(sealed, where)).toThrow(/another SECRETS_KEY/);
        }),
      );
    });

    test('opens a value only in the place it was sealed for', () => {
      const place = fc.record({
        webhookId: fc.uuid(),
        field: fc.constantFrom('secret', 'query', 'header x'),
      });
      fc.assert(
        fc.property(text, place, place, (secret, one, other) => {
          fc.pre(one.webhookId !== other.webhookId || one.field !== other.field);
          const box = createSecretBox('k'.repeat(32));
          expect(() => box.open(box.seal(secret, one), other)).toThrow();
        }),
      );
    });

    test('requires a tag of 16 bytes', () => {
      const box = createSecretBox('k'.repeat(32));
      const [id, iv, tag, sealed] = box.seal('a secret', where).split('.');
      const short = Buffer.from(tag!, 'base64url').subarray(0, 4).toString('base64url');
      expect(() => box.open([id, iv, short, sealed].join('.'), where)).toThrow();
    });

    test('refuses values that were never sealed', () => {
      fc.assert(
        fc.property(fc.string(), (sealed) => {
          expect(() => createSecretBox('k'.repeat(32)).open(sealed, where)).toThrow();
        }),
      );
    });

    test('a new secret is whsec_ and 32 bytes, never the same twice', () => {
      const made = Array.from({ length: 50 }, newSecret);
      expect(new Set(made).size).toBe(50);
      for (const secret of made) {
        expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
        expect(Buffer.from(secret.slice('whsec_'.length), 'base64')).toHaveLength(32);
      }
    });
  });
});

describe('at rest', () => {
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
});
