import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  decodeResponseHeaders,
  encodeResponseHeaders,
} from '../../../../src/engine/send/response-headers.js';

const startedAt = new Date('2026-11-21T12:00:00.400Z');
const shown = (...raw: string[]) => decodeResponseHeaders(encodeResponseHeaders(raw, startedAt), startedAt);
const inUtf8 = (text: string) => Buffer.from(text).toString('latin1');
const bytesOf = (headers: Record<string, string>) =>
  Object.entries(headers).reduce((sum, [name, value]) => sum + name.length + Buffer.byteLength(value) + 4, 0);

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
    const stored = encodeResponseHeaders(['Set-Cookie', 'sid=planted', 'SET-COOKIE', 'b=planted'], startedAt);
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
