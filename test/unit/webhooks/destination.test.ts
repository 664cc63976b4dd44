import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { networkInterfaces } from 'node:os';
import {
  DENIED_IPV4_RANGES,
  DENIED_IPV6_RANGES,
  type DestinationPolicy,
  checked,
  inDenied,
  isDeniedAddress,
  checkTargetAddress,
} from '../../../src/engine/send/destination.js';
import { addressPattern, asciiAddress } from '../../../src/webhooks/address.js';
import {
  corpusPolicy,
  corpusRows,
  developmentPolicy,
  stubResolver,
  type Resolve,
} from '../../support/ssrf-corpus.js';

/** The addresses that a connection may be made to, or the code of the refusal. */
const allowed = async (resolve: Resolve, hostname: string) => {
  try {
    return checked(hostname, { addresses: await resolve(hostname), rest: null }, corpusPolicy).addresses;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code;
  }
};

describe('at registration', () => {
  test.each(corpusRows('DENY_URL', 'DENY_IP'))('$id $url is refused with a message ($reason)', ({ url }) => {
    expect(checkTargetAddress(url, corpusPolicy)).toMatch(/^(The|Names) .+\.$/);
  });

  test.each(corpusRows('ALLOW', 'DENY_DNS'))('$id $url may be registered', ({ url }) => {
    expect(checkTargetAddress(url, corpusPolicy)).toBeNull();
  });

  test.each([
    'http://localhost:3000/hook',
    'http://127.0.0.1:9999/',
    'https://[::1]:8443/',
    'http://redis:6379/',
    'http://my_service/',
    'http://db.internal/',
    'http://10.0.0.1/',
  ])('%s may be registered in development', (url) => {
    expect(checkTargetAddress(url, developmentPolicy)).toBeNull();
    expect(checkTargetAddress(url, corpusPolicy)).not.toBeNull();
  });

  test('in development only plain spellings, hostnames and ports of private targets are allowed in addition', () => {
    const letIn = corpusRows('DENY_URL', 'DENY_IP').filter(
      ({ url }) => !checkTargetAddress(url, developmentPolicy),
    );
    const clear =
      /^https?:\/\/((0|[1-9]\d*)(\.(0|[1-9]\d*)){3}|\[[\da-f:.]+\]|[a-z\d-]+(\.[a-z\d-]+)*)(:[1-9]\d*)?\/[^#\s]*$/;
    expect(letIn.filter(({ url }) => !clear.test(url))).toEqual([]);
    expect(letIn).toHaveLength(80);
  });

  test('http is refused if only https is allowed', () => {
    const policy = { ...corpusPolicy, allowHttpTargets: false };
    expect(checkTargetAddress('http://example.org/', policy)).toMatch(/https/);
    expect(checkTargetAddress('https://example.org/', policy)).toBeNull();
  });

  test('2,048 characters are accepted, one more is not', () => {
    const url = 'https://example.org/'.padEnd(2048, 'x');
    expect(checkTargetAddress(url, corpusPolicy)).toBeNull();
    expect(checkTargetAddress(`${url}x`, corpusPolicy)).toMatch(/2048/);
  });

  test.each([
    'https://example.org./',
    'https://ex%61mple.org/',
    'https://-a.example.org/',
    'https://example.org:0443/',
    'https://example.org:00/',
    'https://hooks.team.svc/',
    'https://kubernetes.default.svc/',
    'https://example.org:/',
    'https://shop.test/',
    `https://${'a.'.repeat(125)}example.org/`,
  ])('%s is refused', (url) => {
    expect(checkTargetAddress(url, corpusPolicy)).not.toBeNull();
  });

  test.each([
    ['https://bücher.example.org/', 'https://xn--bcher-kva.example.org/'],
    ['https://BÜCHER.example.org:8443/ä?b', 'https://xn--bcher-kva.example.org:8443/ä?b'],
    ['https://bu\u0308cher.example.org', 'https://xn--bcher-kva.example.org'],
    ['https://faß.example.org/', 'https://xn--fa-hia.example.org/'],
    ['https://例え.テスト/', 'https://xn--r8jz45g.xn--zckzah/'],
  ])('%s is accepted as %s', (written, taken) => {
    expect(asciiAddress(written)).toBe(taken);
    expect(asciiAddress(taken)).toBe(taken);
  });

  test.each([
    'https://ｅｘａｍｐｌｅ.org/',
    'https://ⓔxample.org/',
    'https://exam\u00adple.org/',
    'https://example。org/',
    'https://①②⑦.⓪.⓪.①/',
    'https://a\u200db.example.org/',
    'https://user@bücher.example.org/',
    'https:/bücher.example.org/',
    `https://${'ü'.repeat(190)}.example.org/`,
  ])('%s only maps to something else: it stays unchanged, and is refused', (written) => {
    expect(asciiAddress(written)).toBe(written);
    expect(checkTargetAddress(written, developmentPolicy)).not.toBeNull();
  });

  test('an ASCII address is never changed; a changed one has the same host for Node', () => {
    fc.assert(
      fc.property(fc.webUrl(), fc.string({ unit: 'binary' }), (url, label) => {
        expect(asciiAddress(url)).toBe(url);
        const written = `https://${label}.example.org/`;
        const taken = asciiAddress(written);
        if (taken !== written) expect(new URL(taken).hostname).toBe(new URL(written).hostname);
      }),
      { numRuns: 30 },
    );
  });

  test("the service's own origin is always refused, its host on any port if private targets are not allowed", () => {
    const publicUrl = new URL('https://Hooks.example.org/service');
    const open = { ...developmentPolicy, publicUrl };
    const strict = { ...corpusPolicy, publicUrl };
    for (const url of ['https://hooks.example.org/', 'https://HOOKS.example.org:443/v1']) {
      expect(checkTargetAddress(url, open)).toMatch(/own address/);
      expect(checkTargetAddress(url, strict)).toMatch(/own address/);
    }
    for (const url of ['https://hooks.example.org:8443/', 'http://hooks.example.org/']) {
      expect(checkTargetAddress(url, open)).toBeNull();
      expect(checkTargetAddress(url, strict)).toMatch(/own address/);
    }
    expect(checkTargetAddress('https://example.org/', strict)).toBeNull();
  });

  test('its own port on this machine is refused however this machine is called', () => {
    const policy = { ...developmentPolicy, publicUrl: new URL('http://localhost:8080') };
    for (const host of [
      'localhost',
      'LOCALHOST',
      '127.0.0.1',
      '127.9.9.9',
      '[::1]',
      '0.0.0.0',
      'a.localhost',
    ]) {
      expect(checkTargetAddress(`http://${host}:8080/hook`, policy)).toMatch(/own address/);
      expect(checkTargetAddress(`https://${host}:8080/hook`, policy)).toMatch(/own address/);
      expect(checkTargetAddress(`http://${host}:9000/hook`, policy)).toBeNull();
    }
    expect(checkTargetAddress('http://10.0.0.1:8080/hook', policy)).toBeNull();
  });

  test('any text is accepted or refused, never an exception', () => {
    const texts = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.webUrl(),
      fc.string().map((s) => `https://${s}`),
    );
    fc.assert(fc.property(texts, (text) => expect(checkTargetAddress(text, corpusPolicy)).not.toBe('')));
  });
});

/** Its free bits come from the seed. */
function inRange(range: string, seed: Uint8Array): number[] {
  const [first, bits] = ipaddr.parseCIDR(range);
  return first.toByteArray().map((byte, i) => {
    const free = Math.min(8, Math.max(0, (i + 1) * 8 - bits));
    const mask = (1 << free) - 1;
    return (byte & ~mask) | ((seed[i] ?? 0) & mask);
  });
}

const seed = fc.uint8Array({ minLength: 16, maxLength: 16 });
const hex = (n: number | undefined) => (n ?? 0).toString(16);

describe('addresses', () => {
  test('every address of a denied IPv4 range is denied, also inside an IPv6 address', () => {
    fc.assert(
      fc.property(fc.constantFrom(...DENIED_IPV4_RANGES), seed, (range, bytes) => {
        const [a = 0, b = 0, c = 0, d = 0] = inRange(range, bytes);
        const dotted = [a, b, c, d].join('.');
        const groups = `${hex(a * 256 + b)}:${hex(c * 256 + d)}`;
        const wrapped = ['::ffff:', '0:0:0:0:0:ffff:', '::', '::ffff:0:', '64:ff9b::', '64:ff9b:1::'];
        const spellings = [dotted, ...wrapped.flatMap((p) => [p + dotted, p + groups]), `2002:${groups}::1`];
        for (const ip of spellings) expect([ip, isDeniedAddress(ip, corpusPolicy)]).toEqual([ip, true]);
      }),
    );
  });

  test('every URL spelling of a denied IPv4 address is refused', () => {
    fc.assert(
      fc.property(fc.constantFrom(...DENIED_IPV4_RANGES), seed, (range, bytes) => {
        const [a = 0, b = 0, c = 0, d = 0] = inRange(range, bytes);
        const number = ((a * 256 + b) * 256 + c) * 256 + d;
        const hosts = [
          [a, b, c, d].join('.'),
          [a, b, c, d].map((n) => `0${n.toString(8)}`).join('.'),
          [a, b, c, d].map((n) => `0x${hex(n)}`).join('.'),
          `${a}.${b}.${c * 256 + d}`,
          `${a}.${number % 2 ** 24}`,
          `${number}`,
          `0x${number.toString(16)}`,
          `[::ffff:${a}.${b}.${c}.${d}]`,
        ];
        for (const host of hosts) expect(checkTargetAddress(`http://${host}/`, corpusPolicy)).not.toBeNull();
      }),
    );
  });

  test('every address of a denied IPv6 range is denied, and everything outside 2000::/3', () => {
    const outside = ['::/3', '4000::/2', '8000::/1', 'fc00::/7', 'fe80::/10', 'ff00::/8'];
    fc.assert(
      fc.property(fc.constantFrom(...DENIED_IPV6_RANGES, ...outside), seed, (range, bytes) => {
        const address = new ipaddr.IPv6(inRange(range, bytes));
        for (const ip of [address.toString(), address.toNormalizedString()]) {
          expect([ip, isDeniedAddress(ip, corpusPolicy)]).toEqual([ip, true]);
        }
      }),
    );
  });

  test('the addresses of this machine are denied, whatever their range', () => {
    const own = Object.values(networkInterfaces()).flatMap((entries) => entries ?? []);
    for (const { address } of own) expect(isDeniedAddress(address, corpusPolicy)).toBe(true);
  });

  test('networks denied by the operator are denied under every policy, also inside an IPv6 address', () => {
    const isDenied = inDenied(['8.8.0.0/16', '2001:4860::/32']);
    const denied = ['8.8.4.4', '::ffff:8.8.4.4', '64:ff9b::8.8.4.4', '2001:4860:4860::8888'];
    for (const ip of denied)
      for (const policy of [corpusPolicy, developmentPolicy])
        expect([ip, isDeniedAddress(ip, { ...policy, isDenied })]).toEqual([ip, true]);
    for (const ip of ['8.9.0.1', '2a00:1450:4001:800::200e'])
      expect([ip, isDeniedAddress(ip, { ...corpusPolicy, isDenied })]).toEqual([ip, false]);
    expect(checkTargetAddress('https://8.8.8.8/', { ...developmentPolicy, isDenied })).not.toBeNull();
    const noLoopback = { ...developmentPolicy, isDenied: inDenied(['127.0.0.0/8']) };
    for (const ip of ['0.0.0.0', '::', '::ffff:0.0.0.0']) expect(isDeniedAddress(ip, noLoopback)).toBe(true);
  });

  test.each(['', 'example.org', '127.1', '0x7f000001', 'fe80::1%eth0', '1.2.3.4 '])(
    '%j, which is not a plain address, is denied under every policy',
    (ip) => {
      expect(isDeniedAddress(ip, corpusPolicy)).toBe(true);
      expect(isDeniedAddress(ip, developmentPolicy)).toBe(true);
    },
  );
});

describe('at connection time', () => {
  const failures = ['NXDOMAIN', 'SERVFAIL', 'NODATA'];
  const sequences = /^(odd|n<)/;

  test.each(corpusRows('DENY_DNS').filter(({ dns }) => !failures.includes(dns) && !sequences.test(dns)))(
    '$id a hostname that resolves to $dns is denied as if it did not exist ($reason)',
    async ({ url, dns }) => {
      expect(await allowed(stubResolver(dns), new URL(url).hostname)).toBe('NO_PUBLIC_ADDRESS');
    },
  );

  test.each(corpusRows('DENY_DNS').filter(({ dns }) => sequences.test(dns)))(
    '$id each lookup is checked by itself: $dns',
    async ({ dns }) => {
      const resolve = stubResolver(dns);
      const found = [];
      for (let call = 1; call <= 4; call++) found.push(await allowed(resolve, 'rebind'));
      const [denied, right] = ['NO_PUBLIC_ADDRESS', expect.any(Array)];
      expect(found).toEqual(
        dns.startsWith('odd') ? [right, denied, right, denied] : [right, right, denied, denied],
      );
    },
  );

  test('what the name servers say later is checked, too', async () => {
    const later = Promise.resolve({ addresses: [{ address: '::1', family: 6 }], rest: null });
    const { addresses, rest } = checked(
      'shop.example.org',
      { addresses: [{ address: '93.184.215.14', family: 4 }], rest: later },
      corpusPolicy,
    );
    expect(addresses).toHaveLength(1);
    await expect(rest).rejects.toMatchObject({ code: 'NO_PUBLIC_ADDRESS' });
  });

  test.each(failures)('%s is a DNS error, not a denial', async (dns) => {
    expect(await allowed(stubResolver(dns), 'nx')).toBe('DNS');
  });

  test('where private targets are allowed, a denied address is told from a name that does not exist', () => {
    const policy = { ...developmentPolicy, isDenied: inDenied(['10.0.0.0/8']) };
    const answer = { addresses: [{ address: '10.0.0.1', family: 4 }], rest: null };
    const denied = expect.objectContaining({ code: 'ADDRESS_DENIED' });
    expect(() => checked('shop.example.org', answer, policy)).toThrow(denied);
  });

  test.each(corpusRows('ALLOW').filter(({ dns }) => dns !== '-'))(
    '$id $url is allowed',
    async ({ url, dns }) => {
      expect(await allowed(stubResolver(dns), new URL(url).hostname)).toEqual([
        { address: '93.184.215.14', family: 4 },
      ]);
    },
  );
});

describe('a target address', () => {
  const strict: DestinationPolicy = {
    allowPrivateTargets: false,
    allowHttpTargets: false,
    allowedPorts: [80, 443, 8080, 8443],
    isDenied: () => false,
    publicUrl: null,
  };
  const open: DestinationPolicy = { ...strict, allowPrivateTargets: true, allowHttpTargets: true };

  const name = (labels: number) => `${'a'.repeat(49)}.`.repeat(labels);

  test.each([
    [strict, 'https://example.org', true],
    [strict, 'https://Example.org:8443/hook?a=b', true],
    [strict, 'https://example.org:81', false],
    [strict, 'http://example.org/', false],
    [strict, 'https://localhost/', false],
    [strict, `https://${name(5)}shop`, false],
    [strict, `https://${name(5)}io/`, true],
    [open, 'http://localhost:9000/', true],
    [open, 'http://127.0.0.1:65535/', true],
    [open, 'http://[::1]:9000/', true],
    [open, 'http://127.0.0.1:65536/', false],
    [open, 'http://127.0.0.256/', false],
    [open, 'http://a/b#c', false],
    [open, 'http://a/b\\c', false],
    [open, 'http://a b/', false],
  ])('%j: the pattern and the service agree on %s: %s', (policy, address, taken) => {
    expect(new RegExp(addressPattern(policy)).test(address)).toBe(taken);
    expect(checkTargetAddress(address, policy) === null).toBe(taken);
  });

  test('everything that matches the pattern is accepted', () => {
    const text = addressPattern(open).replace(/\(\?=.*?\$\)\)/, ''); // fast-check does not support lookahead
    fc.assert(
      fc.property(fc.stringMatching(new RegExp(text)), (address) => {
        fc.pre(new RegExp(addressPattern(open)).test(address) && !/xn--/i.test(address));
        expect(checkTargetAddress(address, open)).toBeNull();
      }),
    );
  });

  test('an address is looked up once in the denied networks, however many webhooks have it', () => {
    let looks = 0;
    const isDenied = () => (looks += 1) === 0;
    for (let n = 0; n < 10; n += 1) isDeniedAddress(`8.8.8.${n}`, { ...strict, isDenied });
    expect(looks).toBe(10);
  });
});
