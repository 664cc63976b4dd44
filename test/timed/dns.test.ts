import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { createDnsResolver, type DnsResolver } from '../../src/engine/send/dns/resolver.js';
import { createLogger } from '../../src/platform/telemetry/logger.js';
import { hugeResponse, startDnsServer, type DnsReply, type DnsServer } from '../support/dns-server.js';

const replies = new Map<string, DnsReply>();
let server: DnsServer;
const logger = createLogger('silent');
const opened: DnsResolver[] = [];
/** Started first, because it takes long. */
let silence: Promise<{ resolver: DnsResolver; code: unknown; lastedMs: number }>;

beforeAll(async () => {
  server = await startDnsServer((name) =>
    name.startsWith('silent') ? 'SILENT' : (replies.get(name) ?? { addresses: ['192.0.2.1'], ttl: 60 }),
  );
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
  const startedAt = performance.now();
  const code = await failure(resolver.resolve('silent-once.example.org', requester()));
  return { resolver, code, lastedMs: performance.now() - startedAt };
}

const requester = (shipperId = 's', timeoutMs = 20_000) => ({
  shipperId,
  deadlineAtMs: performance.now() + timeoutMs,
});
const timesAsked = (name: string) =>
  server.asked.filter((query) => query.name === name && query.type === 'A').length;
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
    for (const addresses of await Promise.all(all))
      expect(addresses).toEqual([{ address: '192.0.2.7', family: 4 }]);
    await resolver.resolve('shared.example.org', requester());
    expect(timesAsked('shared.example.org')).toBe(1);
  });

  test('a result with a TTL of zero is not cached', async () => {
    replies.set('changing.example.org', { addresses: ['192.0.2.8'], ttl: 0 });
    const resolver = open();
    await resolver.resolve('changing.example.org', requester());
    replies.set('changing.example.org', { addresses: ['192.0.2.9'], ttl: 0 });
    expect(await resolver.resolve('changing.example.org', requester())).toEqual([
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
      expect(await resolver.resolve('many.example.org', requester())).toHaveLength(32);
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
    expect(performance.now() - startedAt).toBeLessThan(3_000);
    expect(named('silent-one-')).toBeLessThanOrEqual(64);
    resolver.close();
    expect(new Set(await Promise.all(dead))).toEqual(new Set(['DNS']));
  });

  test('dead hostnames of many shippers stay within the limit of the process', async () => {
    const resolver = open();
    const dead = Array.from({ length: 600 }, (_, n) =>
      failure(resolver.resolve(`silent-many-${n}.example.org`, requester(`s${n % 20}`))),
    );
    await sleep(500);
    expect(named('silent-many-')).toBeLessThanOrEqual(256);
    expect(named('silent-many-')).toBeGreaterThan(200); // a packet may get lost
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
    expect(performance.now() - startedAt).toBeLessThan(3_000);
    resolver.close();
    await Promise.all(dead);
  });

  test('a silent server is queried three times and given up after 5 s; that is cached', async () => {
    const { resolver, code, lastedMs } = await silence;
    expect(code).toBe('DNS');
    expect(lastedMs).toBeGreaterThan(4_500);
    expect(lastedMs).toBeLessThan(7_000);
    const againAt = performance.now();
    expect(await failure(resolver.resolve('silent-once.example.org', requester()))).toBe('DNS');
    expect(performance.now() - againAt).toBeLessThan(1_000);
    expect(timesAsked('silent-once.example.org')).toBe(3);
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
      expect(await resolver.resolve(name, requester())).toEqual([
        { address: '127.0.0.1', family: 4 },
        { address: '::1', family: 6 },
      ]);
    expect(timesAsked('localhost')).toBe(0);
  });

  test('only if private targets are allowed, the system resolver is used for hostnames unknown to DNS', async () => {
    const own = hostsFileName();
    replies.set(own, 'NXDOMAIN');
    expect(await failure(open().resolve(own, requester()))).toBe('DNS');
    const addresses = await open({ systemToo: true }).resolve(own, requester());
    expect(addresses).toEqual(expect.arrayContaining([expect.objectContaining({ family: 4 })]));
  });
});

/** A hostname other than localhost in this machine's hosts file; most have their own. */
function hostsFileName(): string {
  const lines = readFileSync('/etc/hosts', 'utf8').split('\n');
  const names = lines.flatMap((line) => line.replace(/#.*/, '').trim().split(/\s+/).slice(1));
  return names.find((name) => !/localhost|^ip6-|^ff0/.test(name))?.toLowerCase() ?? hostname().toLowerCase();
}
