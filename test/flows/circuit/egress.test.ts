import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createServer } from 'node:http';
import { durationsOf } from '../../../src/platform/durations.js';
import { expectSuccess, expectWrong } from '../../support/expect.js';
import { operator, placeOrder, registerAccount, registerWebhook, request } from '../../support/client.js';
import { startServiceWith, type Service } from '../../support/harness.js';
import { startDnsServer, type DnsServer } from '../../support/dns-server.js';
import { startReceiver } from '../../support/receiver.js';
import { until } from '../../support/until.js';
import { deliveriesOf, orderDelivered, startHook, untilDelivery } from '../../support/deliveries.js';

/** Longer than a start may take, and than a pause request. */
const lateMs = durationsOf().maxStartMs + durationsOf().startMarginMs + 600;

let service: Service;
let dns: DnsServer;
let movedTo = '127.0.0.1';
let accounts = 0;

beforeAll(async () => {
  dns = await startDnsServer((name, type) => {
    // Nothing listens on IPv6; the response about IPv4 is late.
    if (name.startsWith('half.'))
      return type === 'A'
        ? { addresses: ['127.0.0.1'], delayMs: 300 }
        : { addresses: ['0:0:0:0:0:0:0:1'], ttl: 60 };
    if (name.startsWith('moving.')) return { addresses: [movedTo], ttl: 0 };
    return { addresses: ['127.0.0.1'], delayMs: name.startsWith('late.') ? lateMs : 50 };
  });
  const env = {
    LOG_DETAIL: 'all',
    DNS_SERVERS: dns.address,
    RETRY_SCHEDULE: '1s,1h',
    EGRESS_ADDRESSES: '198.51.100.9,2001:db8::/64',
  };
  service = await startServiceWith(env);
});
afterAll(async () => {
  await service?.stop();
  await dns?.close();
});

const newAccount = () => registerAccount(service, `user${(accounts += 1)}@example.com`);

interface Attempt {
  statusCode: number | null;
  errorCode: string;
  responseBody: string | null;
}

const failures = (webhookId: string) =>
  service.sql<Attempt>(
    `select a.status_code as "statusCode", a.error_code as "errorCode", a.response_body as "responseBody"
       from attempts a join outbox o using (delivery_id) where o.webhook_id = $1`,
    [webhookId],
  );

describe('a webhook on the service itself', () => {
  test.concurrent(
    'by a name and with a valid token makes no loop: a request with Parcelhook-Attempt is refused',
    async () => {
      const account = await newAccount();
      const { port } = new URL(service.url);
      const headers = { Authorization: `Bearer ${account.token}` };
      const { webhookId } = await registerWebhook(account, 'http://placeholder.example.org/', { headers });
      const path = `/v1/webhooks/${webhookId}/test?key=${account.accountKey}`;
      const targetAddress = `http://alias.example.org:${port}${path}`;
      expectSuccess(
        await account.call(`/v1/webhooks/${webhookId}`, {
          method: 'PATCH',
          body: { targetAddress, headers },
        }),
        200,
      );
      await placeOrder(account);
      await until('two attempts', async () => (await failures(webhookId)).length === 2);
      for (const attempt of await failures(webhookId)) {
        expect(attempt).toMatchObject({ statusCode: 400, errorCode: 'HTTP_STATUS' });
        expect(attempt.responseBody).toContain('Parcelhook-Attempt');
      }
      const { data } = await account.call(`/v1/deliveries?webhookId=${webhookId}`);
      expect(data.deliveries).toHaveLength(1);
      expectSuccess(await account.call(`/v1/webhooks/${webhookId}`, { method: 'DELETE' }), 200);
    },
  );

  test.concurrent(
    'every request with that header returns 400 naming it, before any other check',
    async () => {
      const account = await newAccount();
      const headers = { 'Parcelhook-Attempt': '1' };
      expectWrong(await account.call('/v1/webhooks', { headers }), ['Parcelhook-Attempt']);
      expectWrong(await operator(service, '/status', { headers }), ['Parcelhook-Attempt']);
      const anybody = await request(`${service.url}/v1/login`, { headers, body: {} });
      expectWrong(anybody, ['Parcelhook-Attempt']);
    },
  );

  test.concurrent('its own address, as users know it, is refused at registration', async () => {
    const account = await newAccount();
    const { port } = new URL(service.url);
    for (const targetAddress of [`http://localhost:${port}/`, `http://LOCALHOST:${port}/v1/shipments`]) {
      const response = await account.call('/v1/webhooks', { body: { interests: ['*'], targetAddress } });
      expectWrong(response, ['targetAddress']);
      expect(response.body.error.details![0]!.message).toMatch(/own address/);
    }
  });
});

test.concurrent('shippers can query the source addresses of notifications', async () => {
  const account = await newAccount();
  const response = await account.call('/v1/egress');
  expectSuccess(response, 200);
  expect(response.data).toEqual({ addresses: ['198.51.100.9/32', '2001:db8::/64'] });
});

test.concurrent(
  'a slow connection: after a pause not a byte is sent there; after a resume everything arrives once',
  async () => {
    const slow = await startReceiver();
    try {
      const account = await newAccount();
      const targetAddress = slow.url.replace('127.0.0.1', 'late.example.org');
      const { webhookId } = await registerWebhook(account, targetAddress);
      const set = (status: string) =>
        account.call(`/v1/webhooks/${webhookId}`, { method: 'PATCH', body: { status } });
      const shown = async () => (await deliveriesOf(account, webhookId)).map(({ status }) => status).join();
      const isLookedUp = () => dns.asked.some(({ name }) => name === 'late.example.org');
      await placeOrder(account);
      await until('the lookup', isLookedUp);
      expectSuccess(await set('PAUSED'), 200);
      expect(await shown()).toBe('SENDING');
      await until('given back', async () => (await shown()) === 'HELD');
      expect(slow.received).toEqual([]);
      expectSuccess(await set('ACTIVE'), 200);
      await until('sent', async () => (await shown()) === 'SUCCEEDED');
      expect(slow.received.map(({ headers }) => headers['parcelhook-attempt'])).toEqual(['1']);
      expectSuccess(await account.call(`/v1/webhooks/${webhookId}`, { method: 'DELETE' }), 200);
    } finally {
      await slow.close();
    }
  },
);

test.concurrent(
  'a receiver on IPv4 gets the first attempt, although DNS tells its address late',
  async () => {
    const account = await newAccount();
    const { webhookId, receiver, close } = await startHook(account);
    const targetAddress = receiver.url.replace('127.0.0.1', 'half.example.org');
    await account.call(`/v1/webhooks/${webhookId}`, { method: 'PATCH', body: { targetAddress } });
    const deliveryId = await orderDelivered(account, webhookId);
    const { attempts } = await untilDelivery(account, deliveryId, ({ status }) => status === 'SUCCEEDED');
    expect(attempts).toMatchObject([{ statusCode: 200, remoteAddress: '127.0.0.1' }]);
    await close();
  },
);

test.concurrent('a receiver that moved to another address gets the next notification there', async () => {
  const account = await newAccount();
  const { webhookId, receiver, close } = await startHook(account);
  const elsewhere = createServer((_request, response) => response.end()).listen(
    Number(new URL(receiver.url).port),
    '127.0.0.2',
  );
  const targetAddress = receiver.url.replace('127.0.0.1', 'moving.example.org');
  await account.call(`/v1/webhooks/${webhookId}`, { method: 'PATCH', body: { targetAddress } });
  const sentTo = async () => {
    const deliveryId = await orderDelivered(account, webhookId);
    const { attempts } = await untilDelivery(account, deliveryId, ({ status }) => status === 'SUCCEEDED');
    return attempts[0]!.remoteAddress;
  };
  // The second one is sent by the thread of the proved, with a connection of its own.
  expect([await sentTo(), await sentTo()]).toEqual(['127.0.0.1', '127.0.0.1']);
  movedTo = '127.0.0.2';
  expect(await sentTo()).toBe('127.0.0.2');
  elsewhere.closeAllConnections();
  elsewhere.close();
  await close();
});

const ms = expect.any(Number);

test.concurrent(
  'each attempt shows its phases, the address it went to, and the headers of the response',
  async () => {
    const account = await newAccount();
    const { webhookId, receiver, response, close } = await startHook(account);
    const targetAddress = receiver.url.replace('127.0.0.1', `${webhookId}.example.org`);
    await account.call(`/v1/webhooks/${webhookId}`, { method: 'PATCH', body: { targetAddress } });
    response.headers = { 'Set-Cookie': 'sid=planted', 'X-Request-Id': 'r-1', 'X-Name': 'Müller' };
    const deliveryId = await orderDelivered(account, webhookId);
    // A receiver that has proved itself moves to another thread, with a connection of its own.
    for (const count of [2, 3]) {
      await account.call(`/v1/deliveries/${deliveryId}/redeliver`, { method: 'POST' });
      await untilDelivery(account, deliveryId, ({ attempts }) => attempts.length === count);
    }
    const { attempts } = await untilDelivery(account, deliveryId, () => true);
    const [again, , first] = attempts;
    const responseHeaders = {
      'set-cookie': '••••',
      'x-request-id': 'r-1',
      'x-name': expect.stringMatching(/^M.ller$/),
      date: expect.stringMatching(/ GMT$/),
      connection: 'keep-alive',
      'keep-alive': 'timeout=5',
      'transfer-encoding': 'chunked',
    };
    expect(first).toMatchObject({
      dnsMs: ms,
      connectMs: ms,
      tlsMs: null,
      firstByteMs: ms,
      remoteAddress: '127.0.0.1',
      responseHeaders,
    });
    expect(first!.responseHeaders).toEqual(responseHeaders);
    expect(first!.dnsMs).toBeGreaterThanOrEqual(45);
    expect(again).toMatchObject({
      dnsMs: null,
      connectMs: null,
      tlsMs: null,
      firstByteMs: ms,
      remoteAddress: '127.0.0.1',
      responseHeaders,
    });
    const rows = await service.sql<{ detail: string }>(`select detail from attempts where delivery_id = $1`, [
      deliveryId,
    ]);
    expect(rows).toHaveLength(2);
    expect(JSON.stringify(rows)).not.toContain('planted');
    await close();
  },
);
