import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startDnsServer, type DnsServer } from '../dns-server.js';
import { placeOrder, registerAccount, registerWebhook, type Account } from '../client.js';
import { startService, type Service } from '../harness.js';
import { startReceiver, type Receiver } from '../receiver.js';
import { trackingIdOf } from './support.js';

/** Twenty of a hundred names are dead: the name server says nothing about them. */
const deadCount = 20;
const liveCount = 40;
/** Lookups of dead names one after the other, or two at a time, would take 50 s and more. */
const undisturbedMs = 15_000;

let service: Service;
let dns: DnsServer;
let receiver: Receiver;
let dead: string[];
let afflicted: Account;
let healthy: Account;

beforeAll(async () => {
  dns = await startDnsServer((name) => (name.startsWith('dead-') ? 'SILENT' : { addresses: ['127.0.0.1'] }));
  // Each notification needs a connection of its own, and each connection a lookup.
  receiver = await startReceiver(() => ({ headers: { connection: 'close' } }));
  service = await startService({ env: { DNS_SERVERS: dns.address, RETRY_SCHEDULE: '1h' } });
  [afflicted, healthy] = await Promise.all([
    registerAccount(service, 'afflicted@example.com'),
    registerAccount(service, 'healthy@example.com'),
  ]);
  const target = (name: string) => receiver.url.replace('127.0.0.1', `${name}.example.org`);
  const register = async (account: Account, prefix: string, count: number) => {
    const webhookIds: string[] = [];
    while (webhookIds.length < count)
      webhookIds.push((await registerWebhook(account, target(`${prefix}-${webhookIds.length}`))).webhookId);
    return webhookIds;
  };
  [dead] = await Promise.all([
    register(afflicted, 'dead', deadCount),
    register(afflicted, 'live-a', liveCount),
    register(healthy, 'live-h', liveCount),
  ]);
});
afterAll(async () => {
  await service?.stop();
  await receiver?.close();
  await dns?.close();
});

const allArrive = (trackingId: string) =>
  receiver.waitFor(liveCount, (request) => trackingIdOf(request) === trackingId, undisturbedMs);

test('webhooks with dead names delay no other, of the same shipper or another; their attempts end with DNS', async () => {
  const own = await placeOrder(afflicted);
  const others = await placeOrder(healthy);
  await Promise.all([allArrive(own), allArrive(others)]);
  const names = new Set(dns.asked.flatMap(({ name }) => (name.startsWith('dead-') ? name : [])));
  expect(names.size).toBe(deadCount); // they are being looked up
  await expectDnsFailures(deadCount);
});

test('a test sent to each answers in time what the matter is, and delays no other', async () => {
  const answers: Promise<unknown>[] = [];
  const others: Promise<unknown>[] = [];
  for (let n = 0; n < deadCount; n += 5) {
    const five = dead
      .slice(n, n + 5)
      .map((webhookId) => afflicted.call(`/v1/webhooks/${webhookId}/test`, { body: {} }));
    answers.push(...five.map((answer) => answer.then(({ data }) => data.errorCode)));
    others.push(placeOrder(healthy).then(allArrive));
    await Promise.all(five);
  }
  await Promise.all(others);
  expect(new Set(await Promise.all(answers))).toEqual(new Set(['DNS']));
});

async function expectDnsFailures(count: number): Promise<void> {
  const failed = async () => {
    const [row] = await service.sql<{ n: number }>(
      `select count(*)::int as n from attempts where error_code = 'DNS' and status_code is null`,
    );
    return row!.n;
  };
  for (const until = Date.now() + 15_000; (await failed()) < count && Date.now() < until;)
    await new Promise((resolve) => setTimeout(resolve, 100));
  expect(await failed()).toBe(count);
}
