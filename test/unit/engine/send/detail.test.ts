import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { detailOf } from '../../../../src/engine/send/exchange.js';
import { noDetail, parseDetail } from '../../../../src/engine/send/messages.js';
import { serviceHeaders, sign } from '../../../../src/engine/send/headers.js';

const exchange = {
  ok: false,
  requestSent: true,
  dnsMs: 1,
  connectMs: 2,
  tlsMs: 3,
  firstByteMs: null,
  remoteAddress: '203.0.113.7',
  errorDetail: null,
  webhookDelivery: null,
  rawResponseHeaders: null as readonly string[] | null,
};
const request = {
  url: 'https://u.example:8443/a?secret=value',
  ownHeaders: [] as readonly string[],
  serviceHeaders: ['webhook-id', 'e'] as readonly string[],
  body: '{}',
  erased: false,
};
const kept = (of: Partial<typeof exchange>, by: Partial<typeof request> = {}) =>
  parseDetail(detailOf({ ...exchange, ...of }, { ...request, ...by }));

describe('the detail of an attempt', () => {
  test('has its phases, its address and more about its error', () => {
    expect(kept({ errorDetail: 'EXPIRED' as never })).toMatchObject({
      ...{ dnsMs: 1, connectMs: 2, tlsMs: 3, firstByteMs: null },
      ...{ remoteAddress: '203.0.113.7', errorDetail: 'EXPIRED' },
    });
    const webhookDelivery = 'abort-message' as never;
    expect(kept({ webhookDelivery }).errorDetail).toBe('REFUSED');
    expect(kept({ webhookDelivery, ok: true }).errorDetail).toBeNull();
  });

  test('is null in every part if it is not kept', () => {
    expect(parseDetail(null)).toBe(noDetail);
    expect(Object.keys(kept({})).sort()).toEqual(Object.keys(noDetail).sort());
    expect(Object.values(noDetail).every((part) => part === null)).toBe(true);
  });

  test('has nothing of the response if the shipment is erased', () => {
    const of = { rawResponseHeaders: ['x-said', 'planted'] };
    expect(kept(of).responseHeaders).toEqual({ 'x-said': 'planted' });
    expect(kept(of, { erased: true }).responseHeaders).toBeNull();
  });
});

describe('the headers of a request', () => {
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

  test('are shown as sent, the values of the webhook’s own masked', () => {
    fc.assert(
      fc.property(attempts, secrets, ownNames, fc.json(), (unsigned, keys, names, body) => {
        const ownHeaders = names.flatMap((name) => [name, 'secret value']);
        const service = serviceHeaders(
          { ...unsigned, signature: sign(keys, unsigned.eventId, 1, body) },
          ownHeaders,
        );
        const sent = { ...request, ownHeaders, serviceHeaders: service, body };
        expect(detailOf(exchange, sent)).not.toContain('secret');
        expect(kept({}, sent).requestHeaders).toEqual({
          host: 'u.example:8443',
          ...Object.fromEntries(names.map((name) => [name.toLowerCase(), '••••'])),
          ...Object.fromEntries(pairs(service)),
          'content-length': String(Buffer.byteLength(body)),
          connection: 'keep-alive',
        });
      }),
    );
  });

  test('are null if none was sent', () => {
    expect(kept({ requestSent: false }).requestHeaders).toBeNull();
  });
});

describe('the headers of a response', () => {
  const shown = (...raw: string[]) => kept({ rawResponseHeaders: raw }).responseHeaders;
  const inUtf8 = (text: string) => Buffer.from(text).toString('latin1');
  const bytesOf = (headers: Record<string, string>) =>
    Object.entries(headers).reduce(
      (sum, [name, value]) => sum + name.length + Buffer.byteLength(value) + 4,
      0,
    );

  const usual = ['date', 'connection', 'keep-alive', 'content-length', 'etag', 'Server', 'vary', '__proto__'];
  const name = fc.oneof(fc.constantFrom(...usual), fc.stringMatching(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,30}$/));
  /** A character per byte, as Node gives them; the parser refuses control characters. */
  const value = fc.oneof(
    fc.constantFrom('', 'keep-alive', 'Sat, 21 Nov 2026 12:00:01 GMT', '0', '"'),
    fc.stringMatching(/^[\x20-\x7e]{0,80}$/),
    fc.string().map((text) => inUtf8(text.replaceAll(/\p{Cc}/gu, ''))),
  );
  const headers = fc.array(fc.tuple(name, value), { maxLength: 30 }).map((all) => all.flat());
  const anyBytes = fc.array(
    fc.tuple(
      name,
      fc.uint8Array({ maxLength: 3_000 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
    ),
    { maxLength: 60 },
  );

  test('are shown as they came', () => {
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
      fc.property(anyBytes, (all) => {
        const stored = detailOf({ ...exchange, rawResponseHeaders: all.flat() }, request);
        expect(stored.isWellFormed()).toBe(true);
        expect(stored).not.toContain('\0');
        expect(stored).not.toContain('\\u0000');
        const whole = parseDetail(stored).responseHeaders!;
        expect(bytesOf(whole)).toBeLessThanOrEqual(4096);
        const names = all.map(([key]) => key.toLowerCase());
        for (const key of Object.keys(whole)) expect(names).toContain(key);
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
    const raw = ['Set-Cookie', 'sid=planted', 'SET-COOKIE', 'b=planted'];
    expect(detailOf({ ...exchange, rawResponseHeaders: raw }, request)).not.toContain('planted');
    expect(shown(...raw)).toEqual({ 'set-cookie': '••••' });
  });

  test('are null without a response, and empty if it had none', () => {
    expect(kept({}).responseHeaders).toBeNull();
    expect(shown()).toEqual({});
  });
});
