import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { createNames, type Names } from '../../src/deliveries/send/names/names.js';
import { createLogger } from '../../src/platform/logger.js';
import { hugeAnswer, startDnsServer, type DnsReply, type DnsServer } from '../dns-server.js';

const replies = new Map<string, DnsReply>();
let server: DnsServer;
const logger = createLogger('silent');
const opened: Names[] = [];
/** Begun first, for it takes its time. */
let silence: Promise<{ names: Names; code: unknown; lastedMs: number }>;

beforeAll(async () => {
  server = await startDnsServer((name) =>
    name.startsWith('silent') ? 'SILENT' : (replies.get(name) ?? { addresses: ['192.0.2.1'], ttl: 60 }),
  );
  silence = untilGivenUp(createNames({ servers: [server.address], systemToo: false }, logger));
});
afterEach(() => {
  for (const names of opened.splice(0)) names.close();
});
afterAll(() => server?.close());

function open({ systemToo = false, servers = [server.address] } = {}): Names {
  const names = createNames({ servers, systemToo }, logger);
  opened.push(names);
  return names;
}

async function untilGivenUp(names: Names) {
  const startedAt = performance.now();
  const code = await failure(names.resolve('silent-once.example.org', asker()));
  return { names, code, lastedMs: performance.now() - startedAt };
}

const asker = (shipperId = 's', timeoutMs = 20_000) => ({
  shipperId,
  deadlineAtMs: performance.now() + timeoutMs,
});
const timesAsked = (name: string) =>
  server.asked.filter((query) => query.name === name && query.type === 'A').length;
const failure = (lookup: Promise<unknown>) => lookup.catch((error: NodeJS.ErrnoException) => error.code);
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test('a thread that cannot be started fails only the lookup', async () => {
  const notForThreads = (() => undefined) as unknown as string;
  const names = open({ servers: [notForThreads] });
  expect(await failure(names.resolve('unlucky.example.org', asker()))).toBe('DNS');
});

describe('names', () => {
  test('lookups of one name under way are one, and its answer is kept as long as it says', async () => {
    replies.set('shared.example.org', { addresses: ['192.0.2.7'], ttl: 60 });
    const names = open();
    const all = Array.from({ length: 50 }, (_, n) => names.resolve('shared.example.org', asker(`s${n}`)));
    for (const addresses of await Promise.all(all))
      expect(addresses).toEqual([{ address: '192.0.2.7', family: 4 }]);
    await names.resolve('shared.example.org', asker());
    expect(timesAsked('shared.example.org')).toBe(1);
  });

  test('an answer that says it lasts no time is asked for again', async () => {
    replies.set('changing.example.org', { addresses: ['192.0.2.8'], ttl: 0 });
    const names = open();
    await names.resolve('changing.example.org', asker());
    replies.set('changing.example.org', { addresses: ['192.0.2.9'], ttl: 0 });
    expect(await names.resolve('changing.example.org', asker())).toEqual([
      { address: '192.0.2.9', family: 4 },
    ]);
  });

  test('a name that is not there fails at once, and is not asked for again for some seconds', async () => {
    replies.set('none.example.org', 'NXDOMAIN');
    const names = open();
    expect(await failure(names.resolve('none.example.org', asker()))).toBe('DNS');
    expect(await failure(names.resolve('none.example.org', asker()))).toBe('DNS');
    expect(timesAsked('none.example.org')).toBe(1);
  });

  const addresses = (count: number) => Array.from({ length: count }, (_, n) => `192.0.2.${n}`);

  test('an answer of 32 addresses is remembered as any other', async () => {
    replies.set('many.example.org', { addresses: addresses(32), ttl: 60 });
    const names = open();
    for (let n = 0; n < 2; n += 1) expect(await names.resolve('many.example.org', asker())).toHaveLength(32);
    expect(timesAsked('many.example.org')).toBe(2); // over UDP, and because it is long over TCP
  });

  test.each<[string, DnsReply]>([
    ['33', { addresses: addresses(33) }],
    ['20 of IPv4 and 20 of IPv6', { addresses: [...addresses(20), ...hugeAnswer.addresses.slice(-20)] }],
    ['6,100', hugeAnswer],
  ])('an answer of more fails, says why, and is not asked for again: %s', async (count, reply) => {
    const name = `too-many-${parseInt(count)}.example.org`;
    replies.set(name, reply);
    const names = open({ systemToo: true });
    for (let n = 0; n < 2; n += 1)
      await expect(names.resolve(name, asker())).rejects.toMatchObject({
        code: 'DNS',
        detail: 'TOO_MANY_ADDRESSES',
      });
    const overTcp = server.asked.filter((query) => query.name === name && query.transport === 'tcp');
    expect(overTcp.length).toBeLessThanOrEqual(2); // IPv4 and IPv6, once
  });

  test('a lookup ends with the last attempt that wants it: nothing is asked for it any more', async () => {
    const names = open();
    const first = failure(names.resolve('silent-short.example.org', asker('a', 100)));
    const second = failure(names.resolve('silent-short.example.org', asker('b', 300)));
    const startedAt = performance.now();
    expect(await first).toBe('DNS');
    expect(await second).toBe('DNS');
    expect(performance.now() - startedAt).toBeLessThan(1_300);
    await sleep(1_200); // the second try would have come
    expect(timesAsked('silent-short.example.org')).toBe(1);
  });

  /** Names asked for so far that begin like this. */
  const named = (prefix: string) =>
    new Set(server.asked.flatMap(({ name }) => (name.startsWith(prefix) ? name : []))).size;

  test('a thousand dead names of one shipper take its share, and keep no one else waiting', async () => {
    const names = open();
    const dead = Array.from({ length: 1_000 }, (_, n) =>
      failure(names.resolve(`silent-one-${n}.example.org`, asker('greedy', 4_000))),
    );
    const startedAt = performance.now();
    const live = Array.from({ length: 50 }, (_, n) => `live-${n}.example.org`);
    await Promise.all(live.map((name) => names.resolve(name, asker('modest'))));
    expect(performance.now() - startedAt).toBeLessThan(3_000);
    expect(named('silent-one-')).toBeLessThanOrEqual(64);
    names.close();
    expect(new Set(await Promise.all(dead))).toEqual(new Set(['DNS']));
  });

  test('many shippers with dead names keep to the bound of the process', async () => {
    const names = open();
    const dead = Array.from({ length: 600 }, (_, n) =>
      failure(names.resolve(`silent-many-${n}.example.org`, asker(`s${n % 20}`))),
    );
    await sleep(500);
    expect(named('silent-many-')).toBeLessThanOrEqual(256);
    expect(named('silent-many-')).toBeGreaterThan(200); // a packet may get lost
    names.close();
    await Promise.all(dead);
  });

  test('a name that one shipper has to wait for is looked up at once for another, and both have it', async () => {
    const names = open();
    const dead = Array.from({ length: 64 }, (_, n) =>
      failure(names.resolve(`silent-hold-${n}.example.org`, asker('greedy', 4_000))),
    );
    const own = names.resolve('wanted.example.org', asker('greedy'));
    const startedAt = performance.now();
    await names.resolve('wanted.example.org', asker('modest'));
    await own;
    expect(performance.now() - startedAt).toBeLessThan(3_000);
    names.close();
    await Promise.all(dead);
  });

  test('a silent server is asked three times and given up after 5 s; that is remembered', async () => {
    const { names, code, lastedMs } = await silence;
    expect(code).toBe('DNS');
    expect(lastedMs).toBeGreaterThan(4_500);
    expect(lastedMs).toBeLessThan(7_000);
    const againAt = performance.now();
    expect(await failure(names.resolve('silent-once.example.org', asker()))).toBe('DNS');
    expect(performance.now() - againAt).toBeLessThan(1_000);
    expect(timesAsked('silent-once.example.org')).toBe(3);
  });

  test('closing ends what is under way', async () => {
    const names = open();
    const waiting = failure(names.resolve('silent-closed.example.org', asker()));
    names.close();
    expect(await waiting).toBe('DNS');
  });

  test('localhost is this machine, whatever a name server says', async () => {
    const names = open({ systemToo: true });
    for (const name of ['localhost', 'shop.localhost'])
      expect(await names.resolve(name, asker())).toEqual([
        { address: '127.0.0.1', family: 4 },
        { address: '::1', family: 6 },
      ]);
    expect(timesAsked('localhost')).toBe(0);
  });

  test('where private targets are allowed, and only there, the machine is asked for what DNS does not know', async () => {
    const own = hostsFileName();
    replies.set(own, 'NXDOMAIN');
    expect(await failure(open().resolve(own, asker()))).toBe('DNS');
    const addresses = await open({ systemToo: true }).resolve(own, asker());
    expect(addresses).toEqual(expect.arrayContaining([expect.objectContaining({ family: 4 })]));
  });
});

/** A name of this machine's hosts file other than localhost; its own host name, which is there on most. */
function hostsFileName(): string {
  const lines = readFileSync('/etc/hosts', 'utf8').split('\n');
  const names = lines.flatMap((line) => line.replace(/#.*/, '').trim().split(/\s+/).slice(1));
  return names.find((name) => !/localhost|^ip6-|^ff0/.test(name))?.toLowerCase() ?? hostname().toLowerCase();
}
