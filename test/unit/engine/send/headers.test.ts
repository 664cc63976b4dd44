import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import {
  decodeHeaders,
  encodeHeaders,
  encodeTargetHeaders,
  ownHeaders,
  serviceHeaders,
  sign,
} from '../../../../src/engine/send/headers.js';
import {
  decodeResponseHeaders,
  encodeResponseHeaders,
} from '../../../../src/engine/send/response-headers.js';
import { newSecret } from '../../../../src/engine/send/sealing.js';

describe('response headers', () => {
  const startedAt = new Date('2026-11-21T12:00:00.400Z');
  const shown = (...raw: string[]) => decodeResponseHeaders(encodeResponseHeaders(raw, startedAt), startedAt);
  const inUtf8 = (text: string) => Buffer.from(text).toString('latin1');
  const bytesOf = (headers: Record<string, string>) =>
    Object.entries(headers).reduce(
      (sum, [name, value]) => sum + name.length + Buffer.byteLength(value) + 4,
      0,
    );

  const usual = ['date', 'connection', 'keep-alive', 'content-length', 'etag', 'Server', 'vary', '__proto__'];
  const name = fc.oneof(fc.constantFrom(...usual), fc.stringMatching(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,30}$/));
  const dates = fc
    .integer({ min: -100_000, max: 100_000 })
    .map((seconds) => new Date(startedAt.getTime() + seconds * 1_000).toUTCString());
  /** A character per byte, as Node gives them; the parser refuses control characters. */
  const value = fc.oneof(
    fc.constantFrom('', 'keep-alive', 'timeout=5', '0', '5', '-3', 'nginx', 'chunked'),
    dates,
    fc.stringMatching(/^[\x20-\x7e]{0,80}$/),
    fc.string().map((text) => inUtf8(text.replaceAll(/\p{Cc}/gu, ''))),
  );
  const headers = fc.array(fc.tuple(name, value), { maxLength: 30 }).map((pairs) => pairs.flat());
  const anyBytes = fc.array(
    fc.tuple(
      name,
      fc.uint8Array({ maxLength: 3_000 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
    ),
    { maxLength: 60 },
  );

  describe('the headers of a response', () => {
    test('are shown as they came, whatever is stored of them', () => {
      fc.assert(
        fc.property(headers, (raw) => {
          const expected = new Map<string, string>();
          for (let at = 0; at < raw.length; at += 2) {
            const [key, text] = [raw[at]!.toLowerCase(), Buffer.from(raw[at + 1]!, 'latin1').toString()];
            expected.set(key, expected.has(key) ? `${expected.get(key)}, ${text}` : text);
          }
          const whole = Object.fromEntries(expected);
          fc.pre(bytesOf(whole) <= 4096 && !expected.has('set-cookie'));
          expect(Object.entries(shown(...raw)!)).toEqual(Object.entries(whole));
        }),
      );
    });

    test('take at most 4 KiB, with whole headers only, and are valid text of PostgreSQL, whatever the bytes', () => {
      fc.assert(
        fc.property(anyBytes, (pairs) => {
          const stored = encodeResponseHeaders(pairs.flat(), startedAt)!;
          expect(stored.isWellFormed()).toBe(true);
          expect(stored).not.toContain('\0');
          expect(Buffer.byteLength(stored)).toBeLessThanOrEqual(4096);
          const all = decodeResponseHeaders(stored, startedAt)!;
          expect(bytesOf(all)).toBeLessThanOrEqual(4096);
          const names = pairs.map(([key]) => key.toLowerCase());
          for (const key of Object.keys(all)) expect(names).toContain(key);
          expect(encodeResponseHeaders(pairs.flat(), startedAt)).toBe(stored);
        }),
      );
    });

    test('that no longer fit are left out whole, and later ones that fit stay', () => {
      const long = 'a'.repeat(4_000);
      expect(shown('X-First', '1', 'X-Long', long, 'X-Long-Too', long, 'X-Last', '2')).toEqual({
        'x-first': '1',
        'x-long': long,
        'x-last': '2',
      });
      expect(shown('x-too-long', 'a'.repeat(4_096))).toEqual({});
      expect(shown('x-twice', long, 'x-twice', long)).toEqual({});
    });

    test('show no cookie', () => {
      const stored = encodeResponseHeaders(
        ['Set-Cookie', 'sid=planted', 'SET-COOKIE', 'b=planted'],
        startedAt,
      );
      expect(stored).not.toContain('planted');
      expect(decodeResponseHeaders(stored, startedAt)).toEqual({ 'set-cookie': '••••' });
    });

    test('of a usual response are stored in a few bytes', () => {
      const raw = [
        ...['Date', 'Sat, 21 Nov 2026 12:00:01 GMT', 'Connection', 'keep-alive'],
        ...['Keep-Alive', 'timeout=5', 'Content-Length', '0'],
      ];
      expect(encodeResponseHeaders(raw, startedAt)).toBe('D1\nC\nK\nL');
    });

    test('are null without a response, and empty if it had none', () => {
      expect(encodeResponseHeaders(null, startedAt)).toBeNull();
      expect(decodeResponseHeaders(null, startedAt)).toBeNull();
      expect(shown()).toEqual({});
    });
  });
});

describe('stored headers', () => {
  const ownNames = fc.uniqueArray(fc.stringMatching(/^X-[!#$%&'*+.^_`|~0-9A-Za-z-]{1,20}$/), {
    maxLength: 16,
    selector: (name) => name.toLowerCase(),
  });
  const secrets = fc.array(fc.base64String({ minLength: 32 }), { minLength: 1, maxLength: 2 });
  const attempts = fc.record({
    eventId: fc.string(),
    sequence: fc.integer({ min: 1 }),
    number: fc.integer({ min: 1, max: 1e9 }),
    startedAt: fc.date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true }),
    traceparent: fc.stringMatching(/^00-[\da-f]{32}-[\da-f]{16}-0[01]$/),
    version: fc.stringMatching(/^\d{1,3}\.\d{1,3}\.\d{1,3}(-[a-z.0-9]{1,8})?$/),
  });

  const pairs = (flat: readonly string[]) =>
    flat.flatMap((name, at) => (at % 2 === 0 ? [[name, flat[at + 1]!]] : []));

  test('the stored headers of an attempt plus its row and event give all of its headers', () => {
    fc.assert(
      fc.property(attempts, secrets, ownNames, fc.json(), (unsigned, keys, names, body) => {
        const attempt = { ...unsigned, signature: sign(keys, unsigned.eventId, 1, body) };
        const own = Object.fromEntries(names.map((name) => [name, 'secret value']));
        const kept = encodeHeaders(
          attempt,
          encodeTargetHeaders('https://u.example:8443/a?secret=value', own),
        );
        expect(kept).not.toContain('secret');
        const event = {
          eventId: attempt.eventId,
          sequence: attempt.sequence,
          body,
          trace: Buffer.from(attempt.traceparent.slice(3, 35), 'hex'),
        };
        expect(decodeHeaders(kept, attempt, event)).toEqual({
          host: 'u.example:8443',
          ...Object.fromEntries(names.map((name) => [name.toLowerCase(), '••••'])),
          ...Object.fromEntries(pairs(serviceHeaders(attempt))),
          'content-length': String(Buffer.byteLength(body)),
          connection: 'keep-alive',
        });
        expect(decodeHeaders(null, attempt, event)).toBeNull();
      }),
    );
  });

  test('a framing header is not sent, even if a webhook has one', () => {
    const registered = { host: 'evil.example', 'X-Own': 'a', 'Transfer-Encoding': 'chunked', 'x-other': 'b' };
    expect(ownHeaders(registered)).toEqual(['X-Own', 'a', 'x-other', 'b']);
  });
});

describe('signatures', () => {
  const secrets = fc
    .uint8Array({ minLength: 24, maxLength: 64 })
    .map((bytes) => `whsec_${Buffer.from(bytes).toString('base64')}`);
  const bodies = fc.oneof(
    fc.json(),
    fc.string({ unit: 'grapheme' }).map((text) => JSON.stringify({ text })),
  );
  const nowSeconds = () => Math.floor(Date.now() / 1_000);

  const headers = (id: string, timestamp: number, signature: string) => ({
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signature,
  });

  describe('the signature of Standard Webhooks', () => {
    test('is that of the published example', () => {
      expect(
        sign(
          ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
          'msg_p5jXN8AQM9LWM0D4loKWxJek',
          1614265330,
          '{"test": 2432232314}',
        ),
      ).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
    });

    test('equals that of the reference library', () => {
      fc.assert(
        fc.property(
          secrets,
          fc.uuid(),
          fc.integer({ min: 0, max: 4e9 }),
          bodies,
          (secret, id, seconds, body) => {
            expect(sign([secret], id, seconds, body)).toBe(
              new Webhook(secret).sign(id, new Date(seconds * 1_000), body),
            );
          },
        ),
      );
    });

    test('verifies with either secret during a rotation, and with no other', () => {
      fc.assert(
        fc.property(
          fc.uniqueArray(secrets, { minLength: 3, maxLength: 3 }),
          fc.uuid(),
          bodies,
          (all, id, body) => {
            const [current, previous, stranger] = all as [string, string, string];
            const signed = headers(id, nowSeconds(), sign([current, previous], id, nowSeconds(), body));
            expect(signed['webhook-signature'].split(' ')).toHaveLength(2);
            expect(new Webhook(current).verify(body, signed)).toEqual(JSON.parse(body));
            expect(new Webhook(previous).verify(body, signed)).toEqual(JSON.parse(body));
            expect(() => new Webhook(stranger).verify(body, signed)).toThrow();
          },
        ),
        { numRuns: 50 },
      );
    });

    test('does not verify for another id, timestamp or body', () => {
      const secret = newSecret();
      const body = '{"state":"CREATED"}';
      const signature = sign([secret], 'id-1', nowSeconds(), body);
      const verify = (id: string, seconds: number, text: string) =>
        new Webhook(secret).verify(text, headers(id, seconds, signature));
      const seconds = nowSeconds();
      expect(verify('id-1', seconds, body)).toEqual({ state: 'CREATED' });
      expect(() => verify('id-2', seconds, body)).toThrow();
      expect(() => verify('id-1', seconds + 1, body)).toThrow();
      expect(() => verify('id-1', seconds, `${body} `)).toThrow();
    });
  });
});
