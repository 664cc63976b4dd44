import fc from 'fast-check';

/** Values that are nearly right, or meant to break something. */
export const hostileLeaf: fc.Arbitrary<unknown> = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    '',
    ' ',
    '\u0000',
    '\ud800',
    '\ufeff',
    '__proto__',
    '1e999',
    "'; drop table events; --",
    '../..',
    '%00',
  ),
  fc.constantFrom(
    'http://[::1',
    'https://x@y',
    'x@y',
    '0000-00-00',
    '*',
    'a'.repeat(2_049),
    'é'.repeat(1_001),
  ),
  fc.constantFrom(0, -1, -0, 1.5, 2 ** 53, -(2 ** 63), Number.MAX_VALUE, Number.MIN_VALUE, null, true),
  fc.constantFrom([], {}, [[]], [null], { length: 3 }, { toString: 1, constructor: 1 }, { $gt: '' }),
);

const hostileName = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    '',
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    'limit',
    'cursor',
    'key',
    'a[b]',
    '$where',
  ),
);

type Change = { kind: 'replace' | 'remove' | 'add' | 'repeat'; at: number; name: string; value: unknown };

const change: fc.Arbitrary<Change> = fc.record({
  kind: fc.constantFrom('replace', 'remove', 'add', 'repeat'),
  at: fc.nat(1_000),
  name: hostileName,
  value: hostileLeaf,
});

export const changes = fc.array(change, { minLength: 1, maxLength: 2 });

export function changed(body: unknown, { kind, at, name, value }: Change): unknown {
  const copy = structuredClone(body);
  const places = placesIn(copy);
  const place = places[at % Math.max(1, places.length)];
  if (!place) return value;
  const { owner, key } = place;
  if (kind === 'remove') delete owner[key];
  else if (kind === 'repeat') owner[key] = [owner[key], owner[key]];
  else
    Object.defineProperty(owner, kind === 'add' ? name : key, {
      value,
      enumerable: true,
      configurable: true,
    });
  return copy;
}

type Owner = Record<string, unknown>;

function placesIn(value: unknown): { owner: Owner; key: string }[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, child]) => [
    { owner: value as Owner, key },
    ...placesIn(child),
  ]);
}

const twice = (text: string) => text.replace(/"(\w+)":/, '"$1":null,"$1":');
const deep = `{"a":${'['.repeat(40)}${']'.repeat(40)}}`;

export const hostileBytes: fc.Arbitrary<(text: string) => Buffer> = fc.oneof(
  fc.uint8Array({ maxLength: 200 }).map((bytes) => () => Buffer.from(bytes)),
  fc.nat(1_000).map((at) => (text: string) => Buffer.from(text.slice(0, at % (text.length + 1)))),
  fc.nat(1_000).map((at) => (text: string) => {
    const bytes = Buffer.from(text || '{}');
    bytes[at % bytes.length] = 0xff;
    return bytes;
  }),
  fc.constantFrom(
    (text: string) => Buffer.from(twice(text)),
    (text: string) => Buffer.from(text.replace(/\d+/, '9007199254740993')),
    (text: string) => Buffer.from(text.replace(/\d+/, '1e999')),
    (text: string) => Buffer.from(text.replaceAll(',', ',\r\n')),
    (text: string) => Buffer.from(text, 'utf16le'),
    (text: string) => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(text)]),
    () => Buffer.from(deep),
    () => Buffer.from(`{"a":"${'x'.repeat(256 * 1024 + 1 - 8)}"}`),
  ),
);

const sessionCookies = ['parcelhook-session', '__Host-parcelhook'];
const noJwt = 'eyJhbGciOiJub25lIn0.e30.';
/** Node's client sends no U+0000; `session.test.ts` does. */
const junkCookies = (name: string): string[] => [
  `${name}=`,
  name,
  `=${name}`,
  `${name}=${noJwt}`,
  `${name}=a; ${name}=b`,
  `${name}="${noJwt}"`,
  `${name}=%00`,
  `${name}=${'a'.repeat(8_000)}`,
  `${name.toUpperCase()}=${noJwt}`,
  `__Secure-${name}=${noJwt}`,
  `${';'.repeat(4_000)}${name}=\xff`,
];

export const hostileHeaders: fc.Arbitrary<Record<string, string>> = fc.oneof(
  fc
    .constantFrom(
      '',
      'Basic',
      'Bearer',
      'Bearer x',
      'Basic Og==',
      'Bearer eyJhbGciOiJub25lIn0.e30.',
      'Digest a="b"',
    )
    .map((authorization) => ({ authorization })),
  fc.constantFrom(...sessionCookies.flatMap(junkCookies)).map((cookie) => ({ cookie })),
  fc.constantFrom('cross-site', 'same-site', 'none', '', 'same-origin, same-origin').map((site) => ({
    'sec-fetch-site': site,
  })),
  fc
    .constantFrom(
      'text/plain',
      'application/xml',
      'application/json; charset=utf-16',
      'multipart/form-data',
      ';',
    )
    .map((type) => ({ 'content-type': type })),
  fc.constantFrom('gzip', 'br', 'x').map((encoding) => ({ 'content-encoding': encoding })),
  fc
    .stringMatching(/^[ -~\xa0-\xff]{0,300}$/)
    .map((value) => ({ 'idempotency-key': value, 'x-request-id': value })),
  fc.constantFrom('application/xml', '*/*;q=0', 'x').map((accept) => ({ accept, 'accept-encoding': accept })),
);

export const hostileQuery = fc.oneof(
  fc.tuple(hostileName, fc.string({ unit: 'binary' })),
  fc.constantFrom<[string, string][]>(
    ['limit', '0'],
    ['limit', '1e2'],
    ['cursor', 'AAAA'],
    ['from', '2026-02-30'],
  ),
);
