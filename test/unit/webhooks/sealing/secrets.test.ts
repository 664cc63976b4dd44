import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createSecretBox, newSecret } from '../../../../src/webhooks/sealing.js';

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
    const place = fc.record({ webhookId: fc.uuid(), field: fc.constantFrom('secret', 'query', 'header x') });
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
