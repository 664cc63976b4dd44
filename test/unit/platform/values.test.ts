import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { openPool, parseAddress } from '../../../src/platform/database/connection.js';
import { nearestName } from '../../../src/platform/issues.js';
import { byteCount, duration, parseByteCount, parseDurationMs } from '../../../src/platform/quantity.js';

describe('a duration', () => {
  test.each([
    ['500ms', 500],
    ['15s', 15_000],
    ['5m', 300_000],
    ['2h', 7_200_000],
    ['1d', 86_400_000],
    ['0s', 0],
    ['0', 0],
    [' 15s ', 15_000],
  ])('%p is %d ms', (text, ms) => {
    expect(parseDurationMs(text)).toBe(ms);
  });

  test.each([
    '',
    's',
    '15',
    '15 s',
    '1.5s',
    '-5s',
    '+5s',
    '1e3s',
    '5S',
    '5sec',
    '1h30m',
    '0x1s',
    '٣s',
    '1234567890s',
  ])('%p is invalid', (text) => {
    expect(parseDurationMs(text)).toBeNull();
  });

  test('any duration is parsed back as it was written', () => {
    const units = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
    fc.assert(
      fc.property(
        fc.nat(999_999_999),
        fc.constantFrom<keyof typeof units>('ms', 's', 'm', 'h', 'd'),
        (count, unit) => {
          expect(parseDurationMs(`${count}${unit}`)).toBe(count * units[unit]);
        },
      ),
    );
  });

  test('is accepted within its inclusive bounds, and nowhere else', () => {
    const schema = duration({ minMs: 1_000, maxMs: 60_000 });
    fc.assert(
      fc.property(fc.nat(120_000), (ms) => {
        expect(schema.safeParse(`${ms}ms`).success).toBe(ms >= 1_000 && ms <= 60_000);
      }),
    );
    expect(schema.safeParse('soon').error?.issues[0]?.message).toMatch(/from 1s to 1m.*500ms/);
  });
});

describe('a count of bytes', () => {
  test.each([
    ['500GiB', 500 * 1024 ** 3],
    ['1.5TB', 1_500_000_000_000],
    ['800MB', 800_000_000],
    [' 1MiB ', 1_048_576],
    ['16KiB', 16_384],
  ])('%p is %d bytes', (text, bytes) => {
    expect(parseByteCount(text)).toBe(bytes);
  });

  test('any size is parsed back as it was written', () => {
    const bytes = { MB: 1e6, GB: 1e9, TB: 1e12, MiB: 1024 ** 2, GiB: 1024 ** 3, TiB: 1024 ** 4 };
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 999_999 }),
        fc.constantFrom<keyof typeof bytes>('MB', 'GB', 'TB', 'MiB', 'GiB', 'TiB'),
        (count, unit) => expect(parseByteCount(`${count}${unit}`)).toBe(count * bytes[unit]),
      ),
    );
  });

  test('a size that is refused is told which form it must have', () => {
    const message = byteCount('1MiB', '1000TiB').safeParse('500 gigabytes').error?.issues[0]?.message;
    expect(message).toMatch(/1MiB to 1000TiB.*such as 500GiB/);
  });
});

const fields = ['lotId', 'trackingId', 'state', 'lat', 'lng', 'weightUnit'];

describe('the nearest name', () => {
  test.each([
    ['lotID', 'lotId'],
    ['lot_id', 'lotId'],
    ['loitId', 'lotId'],
    ['lotdI', 'lotId'],
    ['trakcingId', 'trackingId'],
    ['stae', 'state'],
    ['lng ', 'lng'],
    ['weigthUnits', 'weightUnit'],
  ])('of %s is %s', (given, meant) => expect(nearestName(given, fields)).toBe(meant));

  test.each(['targetAddress', 'x', '', 'lo', 'units', 'l'.repeat(10_000)])('%s has none', (given) =>
    expect(nearestName(given, fields)).toBeNull(),
  );

  test('is found over as many letters as are allowed, if it has one of its own letters', () => {
    expect(nearestName('LEFT', ['LOST'])).toBeNull();
    expect(nearestName('LEFT', ['LOST'], 2)).toBe('LOST');
    expect(nearestName('OX', ['OK'], 2)).toBe('OK');
    expect(nearestName('AB', ['OK'], 2)).toBeNull();
  });

  test('is found over one swapped, one left out or one added letter, in every place', () => {
    const name = 'shipperDropoffDate';
    fc.assert(
      fc.property(fc.nat(name.length - 2), fc.constantFrom('swap', 'drop', 'add'), (at, kind) => {
        const pair = name[at + 1]! + name[at]!;
        const middle = { swap: pair, drop: name[at]!, add: `${name[at]!}x${name[at + 1]!}` }[kind];
        expect(nearestName(name.slice(0, at) + middle + name.slice(at + 2), [...fields, name])).toBe(name);
      }),
    );
  });
});

describe('the address of PostgreSQL', () => {
  const serversOf = (text: string) => parseAddress(text).servers.map(({ host, port }) => `${host} ${port}`);

  test.each([
    ['postgresql://u:p@db/n', ['db 5432']],
    ['postgres://u:p@[::1]:5433/n', ['::1 5433']],
    ['postgresql://u:p%40@h1:5432,h2:5433/n?target_session_attrs=read-write', ['h1 5432', 'h2 5433']],
    ['postgresql://u:p@/n?host=h1,h2&port=5433', ['h1 5433', 'h2 5433']],
    ['postgresql:///n?host=/run/postgresql&user=u', ['/run/postgresql 5432']],
  ])('%s names %j', (text, servers) => {
    expect(serversOf(text)).toEqual(servers);
    expect(parseAddress(text).common).toMatchObject({ user: 'u', database: 'n' });
  });

  test.each(['prefer', 'require', 'verify-ca', 'verify-full'])(
    'sslmode=%s verifies the certificate',
    (mode) => {
      expect(parseAddress(`postgresql://h/n?sslmode=${mode}`).common.ssl).toEqual({});
    },
  );

  test('only what asks for it is not verified, or not encrypted', () => {
    const sslOf = (query: string) => parseAddress(`postgresql://h/n${query}`).common.ssl;
    expect(sslOf('?sslmode=no-verify')).toEqual({ rejectUnauthorized: false });
    expect([sslOf('?sslmode=disable'), sslOf('')]).toEqual([false, false]);
  });

  test.each([
    ['SSLMODE=require', 'SSLMODE is not a parameter of this service; did you mean sslmode?'],
    ['sslmod=require', 'sslmod is not a parameter of this service; did you mean sslmode?'],
    ['ssl_root_cert=ca.crt', 'ssl_root_cert is not a parameter of this service; did you mean sslrootcert?'],
    ['sslsni=1', 'sslsni is not a parameter of this service'],
    ['sslmode=verify-ful', /^sslmode must be one of disable, .*; did you mean verify-full\?$/],
    ['sslmode=require&sslmode=', /^sslmode must be one of/],
    ['ssl=false', 'ssl must be one of true, 1, 0, no-verify'],
  ])('?%s is refused, because it would not protect the connection', (query, says) => {
    expect(() => parseAddress(`postgresql://h/n?${query}`)).toThrow(says);
  });

  test('what other clients need of an address is passed over', () => {
    const query =
      'connect_timeout=10&application_name=x&channel_binding=require&pgbouncer=true&schema=public';
    expect(() => parseAddress(`postgresql://h/n?${query}`)).not.toThrow();
  });

  test('no option of the address takes the place of a setting that the service relies on', () => {
    const pool = openPool(
      'postgresql://h/n?options=-c%20DateStyle%3DGerman',
      { settings: {} },
      () => undefined,
    );
    const { options } = pool as unknown as { options: { options: string } };
    expect(options.options.lastIndexOf('DateStyle=ISO')).toBeGreaterThan(
      options.options.lastIndexOf('DateStyle=German'),
    );
  });
});
