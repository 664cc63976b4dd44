import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { hugeResponse, startDnsServer, type DnsServer } from '../../support/dns-server.js';
import { placeOrder, registerAccount, registerWebhook, type Account } from '../../support/client.js';
import { startServiceWith, type Service } from '../../support/harness.js';
import { startReceiver, type Receiver } from '../../support/receiver.js';
import { trackingIdOf } from '../../support/load.js';
import { until } from '../../support/until.js';

/** Twenty of a hundred hostnames are dead: the name server does not respond for them. */
const deadCount = 20;
const liveCount = 40;
/** Sequential lookups of dead hostnames, or two at a time, would take over 50 s. */
const undisturbedMs = 15_000;

let service: Service;
let dns: DnsServer;
let receiver: Receiver;
let dead: string[];
let afflicted: Account;
let healthy: Account;

beforeAll(async () => {
  dns = await startDnsServer((name) => {
    if (name.startsWith('huge-')) return hugeResponse;
    return name.startsWith('dead-') ? 'SILENT' : { addresses: ['127.0.0.1'] };
  });
  // Each notification needs its own connection, and each connection a lookup.
  receiver = await startReceiver(() => ({ headers: { connection: 'close' } }));
  service = await startServiceWith({ DNS_SERVERS: dns.address, RETRY_SCHEDULE: '1h' });
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

test('webhooks with dead hostnames delay no other, of the same shipper or another; their attempts end with DNS', async () => {
  const own = await placeOrder(afflicted);
  const others = await placeOrder(healthy);
  await Promise.all([allArrive(own), allArrive(others)]);
  const names = new Set(dns.asked.flatMap(({ name }) => (name.startsWith('dead-') ? name : [])));
  expect(names.size).toBe(deadCount); // they are being looked up
  await expectDnsFailures(deadCount);
});

test('a test to each of them reports the cause in time, and delays no other', async () => {
  const responses: Promise<unknown>[] = [];
  const others: Promise<unknown>[] = [];
  for (let n = 0; n < deadCount; n += 5) {
    const five = dead
      .slice(n, n + 5)
      .map((webhookId) => afflicted.call(`/v1/webhooks/${webhookId}/test`, { body: {} }));
    responses.push(...five.map((response) => response.then(({ data }) => data.errorCode)));
    others.push(placeOrder(healthy).then(allArrive));
    await Promise.all(five);
  }
  await Promise.all(others);
  expect(new Set(await Promise.all(responses))).toEqual(new Set(['DNS']));
});

test('twenty concurrent hostnames with 6,100 addresses delay no other; their attempts report the cause', async () => {
  const account = await registerAccount(service, 'huge@example.com');
  const hooks: string[] = [];
  while (hooks.length < 20)
    hooks.push((await registerWebhook(account, `http://huge-${hooks.length}.example.org/`)).webhookId);
  let over = false;
  let slowestMs = 0;
  const asking = (async () => {
    for (; !over; await new Promise((resolve) => setTimeout(resolve, 10))) {
      const startedAt = performance.now();
      await fetch(`${service.url}/healthz`);
      slowestMs = Math.max(slowestMs, performance.now() - startedAt);
    }
  })();
  await placeOrder(account);
  const failed = async () =>
    (await account.call('/v1/deliveries')).data.deliveries.filter((one: any) => one.lastAttempt !== null);
  await until('all have failed', async () => (await failed()).length === hooks.length);
  over = true;
  await asking;
  expect(slowestMs).toBeLessThan(1_000); // 1,600 ms if the event loop parses the responses, 6 ms if not
  const { data } = await account.call(`/v1/deliveries/${(await failed())[0].deliveryId}`);
  expect(data.attempts).toMatchObject([{ errorCode: 'DNS', errorDetail: 'TOO_MANY_ADDRESSES' }]);
  const again = await account.call(`/v1/webhooks/${hooks[0]}/test`, { body: {} });
  expect(again.data).toMatchObject({ errorCode: 'DNS', errorDetail: 'TOO_MANY_ADDRESSES' });
  expect(dns.asked.filter(({ name }) => name === 'huge-0.example.org').length).toBeLessThanOrEqual(4);
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
