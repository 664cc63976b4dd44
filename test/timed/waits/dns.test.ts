import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { createDnsResolver, type Answer, type DnsResolver } from '../../../src/engine/send/dns/resolver.js';
import { createLogger } from '../../../src/platform/telemetry/logger.js';
import { until } from '../../support/until.js';
import {
  hugeResponse,
  startDnsServer,
  type DnsReply,
  type DnsResponse,
  type DnsServer,
} from '../../support/dns-server.js';

const replies = new Map<string, DnsReply>();
let server: DnsServer;
const logger = createLogger('silent');
const opened: DnsResolver[] = [];
/** Started first, because it takes long. */
let silence: ReturnType<typeof untilGivenUp>;

/**
 * For names that begin with `half`, the response about AAAA comes at once; that about A comes late, at the second try,
 * as a failure, or never.
 */
const both: DnsResponse = { addresses: ['192.0.2.1', '2001:db8:0:0:0:0:0:1'], ttl: 60 };
function replyAboutA(name: string): DnsReply {
  if (name.startsWith('half-late')) return { ...both, delayMs: 300 };
  if (name.startsWith('half-failed')) return 'SERVFAIL';
  return name.startsWith('half-lost') && timesAsked(name) > 1 ? both : 'SILENT';
}

beforeAll(async () => {
  server = await startDnsServer((name, type) => {
    if (name.startsWith('silent')) return 'SILENT';
    if (name.startsWith('half') && type === 'A') return replyAboutA(name);
    return replies.get(name) ?? { addresses: ['192.0.2.1'], ttl: 60 };
  });
  silence = untilGivenUp(createDnsResolver({ servers: [server.address], systemToo: false }, logger));
});
afterEach(() => {
  for (const resolver of opened.splice(0)) resolver.close();
});
afterAll(() => server?.close());

function open({ systemToo = false, servers = [server.address] } = {}): DnsResolver {
  const resolver = createDnsResolver({ servers, systemToo }, logger);
  opened.push(resolver);
  return resolver;
}

async function untilGivenUp(resolver: DnsResolver) {
  const name = 'silent-once.example.org';
  const timed = async () => {
    const startedAt = performance.now();
    const code = await failure(resolver.resolve(name, requester()));
    return { code, lastedMs: performance.now() - startedAt };
  };
  return { first: await timed(), again: await timed(), asked: timesAsked(name) };
}

const requester = (shipperId = 's', timeoutMs = 20_000) => ({
  shipperId,
  deadlineAtMs: performance.now() + timeoutMs,
});
const timesAsked = (name: string) =>
  server.asked.filter((query) => query.name === name && query.type === 'A').length;
const listed = async (lookup: Promise<Answer> | null) => (await lookup)!.addresses;
const failure = (lookup: Promise<unknown>) => lookup.catch((error: NodeJS.ErrnoException) => error.code);
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test('a thread that cannot be started fails only the lookup', async () => {
  const notForThreads = (() => undefined) as unknown as string;
  const resolver = open({ servers: [notForThreads] });
  expect(await failure(resolver.resolve('unlucky.example.org', requester()))).toBe('DNS');
});

describe('DNS lookups', () => {
  test('concurrent lookups of one hostname are one, and its result is cached for its TTL', async () => {
    replies.set('shared.example.org', { addresses: ['192.0.2.7'], ttl: 60 });
    const resolver = open();
    const all = Array.from({ length: 50 }, (_, n) =>
      resolver.resolve('shared.example.org', requester(`s${n}`)),
    );
    for (const answer of await Promise.all(all))
      expect(answer).toEqual({ addresses: [{ address: '192.0.2.7', family: 4 }], rest: null });
    await resolver.resolve('shared.example.org', requester());
    expect(timesAsked('shared.example.org')).toBe(1);
  });

  test('a result with a TTL of zero is not cached', async () => {
    replies.set('changing.example.org', { addresses: ['192.0.2.8'], ttl: 0 });
    const resolver = open();
    await resolver.resolve('changing.example.org', requester());
    replies.set('changing.example.org', { addresses: ['192.0.2.9'], ttl: 0 });
    expect(await listed(resolver.resolve('changing.example.org', requester()))).toEqual([
      { address: '192.0.2.9', family: 4 },
    ]);
  });

  test('an unknown hostname fails at once, and is cached for some seconds', async () => {
    replies.set('none.example.org', 'NXDOMAIN');
    const resolver = open();
    expect(await failure(resolver.resolve('none.example.org', requester()))).toBe('DNS');
    expect(await failure(resolver.resolve('none.example.org', requester()))).toBe('DNS');
    expect(timesAsked('none.example.org')).toBe(1);
  });

  const addresses = (count: number) => Array.from({ length: count }, (_, n) => `192.0.2.${n}`);

  test('a result of 32 addresses is cached as usual', async () => {
    replies.set('many.example.org', { addresses: addresses(32), ttl: 60 });
    const resolver = open();
    for (let n = 0; n < 2; n += 1)
      expect(await listed(resolver.resolve('many.example.org', requester()))).toHaveLength(32);
    expect(timesAsked('many.example.org')).toBe(2);
  });

  test.each<[string, DnsReply]>([
    ['33', { addresses: addresses(33) }],
    ['20 of IPv4 and 20 of IPv6', { addresses: [...addresses(20), ...hugeResponse.addresses.slice(-20)] }],
    ['6,100', hugeResponse],
  ])('a longer result fails with the reason, and is cached: %s', async (count, reply) => {
    const name = `too-many-${parseInt(count)}.example.org`;
    replies.set(name, reply);
    const resolver = open({ systemToo: true });
    for (let n = 0; n < 2; n += 1)
      await expect(resolver.resolve(name, requester())).rejects.toMatchObject({
        code: 'DNS',
        detail: 'TOO_MANY_ADDRESSES',
      });
    const overTcp = server.asked.filter((query) => query.name === name && query.transport === 'tcp');
    expect(overTcp.length).toBeLessThanOrEqual(2); // IPv4 and IPv6, once
  });

  const [ipv4, ipv6] = [
    { address: '192.0.2.1', family: 4 },
    { address: '2001:db8::1', family: 6 },
  ];

  test.each(['half-late.example.org', 'half-lost.example.org'])(
    '%s: one family is used at once, the other when it comes, and only both are cached',
    async (name) => {
      replies.set(name, both);
      const resolver = open();
      const half = await resolver.resolve(name, requester());
      expect(half.addresses).toEqual([ipv6]);
      // Another attempt shares the lookup.
      const another = await resolver.resolve(name, requester());
      expect(another.addresses).toEqual([ipv6]);
      expect(await Promise.all([half.rest, another.rest])).toEqual(
        Array(2).fill({ addresses: [ipv4, ipv6], rest: null }),
      );
      const asked = timesAsked(name);
      expect(await resolver.resolve(name, requester())).toEqual({ addresses: [ipv4, ipv6], rest: null });
      expect(timesAsked(name)).toBe(asked);
    },
  );

  test('if nothing is ever said about the other family, the rest fails at the end of the attempt, and the half is not cached', async () => {
    const name = 'half-silent.example.org';
    replies.set(name, both);
    const resolver = open();
    const { rest } = await resolver.resolve(name, requester('s', 1_500));
    expect(await failure(rest!)).toBe('DNS');
    const asked = timesAsked(name);
    expect((await resolver.resolve(name, requester())).addresses).toEqual([ipv6]);
    expect(timesAsked(name)).toBeGreaterThan(asked);
  });

  test('if the servers respond with a failure about the other family, the rest fails, and the half is cached for some seconds', async () => {
    const name = 'half-failed.example.org';
    replies.set(name, both);
    const resolver = open();
    for (let n = 0; n < 2; n += 1) {
      const { addresses, rest } = await resolver.resolve(name, requester());
      expect(addresses).toEqual([ipv6]);
      expect(await failure(rest!)).toBe('DNS');
    }
    const asked = timesAsked(name);
    await resolver.resolve(name, requester());
    expect(timesAsked(name)).toBe(asked);
  });

  test('a name about which nothing was said within an attempt is dead for some seconds: nothing is asked', async () => {
    const name = 'silent-dead.example.org';
    const resolver = open();
    const startedAt = performance.now();
    expect(await failure(resolver.resolve(name, requester('s', 400)))).toBe('DNS');
    expect(performance.now() - startedAt).toBeLessThan(4_000); // a silent server is given up after 5 s
    const asked = timesAsked(name);
    const againAt = performance.now();
    expect(await failure(resolver.resolve(name, requester('another', 10_000)))).toBe('DNS');
    expect(performance.now() - againAt).toBeLessThan(4_000);
    expect(timesAsked(name)).toBe(asked);
  });

  test('a lookup ends with the last attempt that needs it: no more queries are sent', async () => {
    const resolver = open();
    const first = failure(resolver.resolve('silent-short.example.org', requester('a', 100)));
    const second = failure(resolver.resolve('silent-short.example.org', requester('b', 300)));
    const startedAt = performance.now();
    expect(await first).toBe('DNS');
    expect(await second).toBe('DNS');
    expect(performance.now() - startedAt).toBeLessThan(1_300);
    await sleep(1_200); // long enough for a second try
    expect(timesAsked('silent-short.example.org')).toBe(1);
  });

  const named = (prefix: string) =>
    new Set(server.asked.flatMap(({ name }) => (name.startsWith(prefix) ? name : []))).size;

  test('a thousand dead hostnames of one shipper use its share, and delay no other shipper', async () => {
    const resolver = open();
    const dead = Array.from({ length: 1_000 }, (_, n) =>
      failure(resolver.resolve(`silent-one-${n}.example.org`, requester('greedy', 4_000))),
    );
    const startedAt = performance.now();
    const live = Array.from({ length: 50 }, (_, n) => `live-${n}.example.org`);
    await Promise.all(live.map((name) => resolver.resolve(name, requester('modest'))));
    expect(performance.now() - startedAt).toBeLessThan(4_500);
    expect(named('silent-one-')).toBeLessThanOrEqual(64);
    resolver.close();
    expect(new Set(await Promise.all(dead))).toEqual(new Set(['DNS']));
  });

  test('dead hostnames of many shippers stay within the limit of the process', async () => {
    const resolver = open();
    const dead = Array.from({ length: 600 }, (_, n) =>
      failure(resolver.resolve(`silent-many-${n}.example.org`, requester(`s${n % 20}`))),
    );
    await until('most are asked about', () => named('silent-many-') > 200); // a packet may get lost
    expect(named('silent-many-')).toBeLessThanOrEqual(256);
    resolver.close();
    await Promise.all(dead);
  });

  test('a hostname queued for one shipper is looked up at once for another, and both get the result', async () => {
    const resolver = open();
    const dead = Array.from({ length: 64 }, (_, n) =>
      failure(resolver.resolve(`silent-hold-${n}.example.org`, requester('greedy', 4_000))),
    );
    const own = resolver.resolve('wanted.example.org', requester('greedy'));
    const startedAt = performance.now();
    await resolver.resolve('wanted.example.org', requester('modest'));
    await own;
    expect(performance.now() - startedAt).toBeLessThan(4_500);
    resolver.close();
    await Promise.all(dead);
  });

  test('a silent server is queried three times and given up after 5 s; that is cached', async () => {
    const { first, again, asked } = await silence;
    expect([first.code, again.code]).toEqual(['DNS', 'DNS']);
    expect(first.lastedMs).toBeGreaterThan(4_500);
    expect(first.lastedMs).toBeLessThan(7_000);
    expect(again.lastedMs).toBeLessThan(1_000);
    expect(asked).toBe(3);
  });

  test('closing ends lookups under way', async () => {
    const resolver = open();
    const waiting = failure(resolver.resolve('silent-closed.example.org', requester()));
    resolver.close();
    expect(await waiting).toBe('DNS');
  });

  test('localhost is this machine, whatever a name server returns', async () => {
    const resolver = open({ systemToo: true });
    for (const name of ['localhost', 'shop.localhost'])
      expect(await listed(resolver.resolve(name, requester()))).toEqual([
        { address: '127.0.0.1', family: 4 },
        { address: '::1', family: 6 },
      ]);
    expect(timesAsked('localhost')).toBe(0);
  });

  test('only if private targets are allowed, the system resolver is used for hostnames unknown to DNS', async () => {
    const own = hostsFileName();
    replies.set(own, 'NXDOMAIN');
    expect(await failure(open().resolve(own, requester()))).toBe('DNS');
    const addresses = await listed(open({ systemToo: true }).resolve(own, requester()));
    expect(addresses).toEqual(expect.arrayContaining([expect.objectContaining({ family: 4 })]));
  });
});

/** A hostname other than localhost in this machine's hosts file; most have their own. */
function hostsFileName(): string {
  const lines = readFileSync('/etc/hosts', 'utf8').split('\n');
  const names = lines.flatMap((line) => line.replace(/#.*/, '').trim().split(/\s+/).slice(1));
  return names.find((name) => !/localhost|^ip6-|^ff0/.test(name))?.toLowerCase() ?? hostname().toLowerCase();
}
