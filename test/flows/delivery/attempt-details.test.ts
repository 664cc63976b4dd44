import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { operator, registerAccount, type Account } from '../../support/client.js';
import { startDnsServer, type DnsServer } from '../../support/dns-server.js';
import { orderDelivered, startHook, untilDelivery, type Hook } from '../../support/deliveries.js';
import { startService, type Service } from '../../support/harness.js';

const it = test.concurrent;

let service: Service;
let dns: DnsServer;
const hooks: Hook[] = [];

beforeAll(async () => {
  dns = await startDnsServer(() => ({ addresses: ['127.0.0.1'], delayMs: 50 }));
  service = await startService({
    env: { DNS_SERVERS: dns.address, RETRY_SCHEDULE: '1h', DELIVERY_TIMEOUT: '4s' },
  });
});
afterAll(async () => {
  await Promise.all(hooks.map(({ receiver }) => receiver.close()));
  await service?.stop();
  await dns?.close();
});

async function scene() {
  const account = await registerAccount(service);
  const hook = await startHook(account, { interests: ['CREATED'] });
  hooks.push(hook);
  return { account, ...hook };
}

const attemptsOf = async (account: Account, deliveryId: string, count: number) =>
  (await untilDelivery(account, deliveryId, ({ attempts }) => attempts.length === count)).attempts;
const redeliver = (account: Account, deliveryId: string) =>
  account.call(`/v1/deliveries/${deliveryId}/redeliver`, { method: 'POST' });
const sendTest = async (account: Account, webhookId: string) =>
  (await account.call(`/v1/webhooks/${webhookId}/test`, { method: 'POST' })).data as Record<string, unknown>;
const move = (account: Account, webhookId: string, targetAddress: string) =>
  account.call(`/v1/webhooks/${webhookId}`, { method: 'PATCH', body: { targetAddress } });
const ms = expect.any(Number);

it('each attempt shows its phases, the address it went to, and the headers of the response', async () => {
  const { account, webhookId, receiver, response } = await scene();
  await move(account, webhookId, receiver.url.replace('127.0.0.1', `${webhookId}.example.org`));
  response.headers = { 'Set-Cookie': 'sid=planted', 'X-Request-Id': 'r-1', 'X-Name': 'Müller' };
  const deliveryId = await orderDelivered(account, webhookId);
  await redeliver(account, deliveryId);
  const [again, first] = await attemptsOf(account, deliveryId, 2);
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
  const [row] = await service.sql<{ headers: string }>(
    `select response_headers as headers from attempts where delivery_id = $1`,
    [deliveryId],
  );
  expect(row!.headers).not.toContain('planted');
});

it('a test shows the same, also where nothing responds', async () => {
  const { account, webhookId, receiver, response } = await scene();
  expect(await sendTest(account, webhookId)).toMatchObject({
    dnsMs: null,
    connectMs: ms,
    tlsMs: null,
    firstByteMs: ms,
    remoteAddress: '127.0.0.1',
    responseHeaders: { connection: 'keep-alive' },
  });
  response.delayMs = 6_000;
  expect(await sendTest(account, webhookId)).toMatchObject({
    errorCode: 'TIMEOUT',
    firstByteMs: null,
    remoteAddress: '127.0.0.1',
    responseHeaders: null,
  });
  await receiver.close();
  const refused = await sendTest(account, webhookId);
  expect(refused).toMatchObject({
    errorCode: 'CONNECT',
    connectMs: null,
    firstByteMs: null,
    remoteAddress: '127.0.0.1',
    responseHeaders: null,
  });
  expect((await attemptsOf(account, refused.deliveryId as string, 1))[0]).toMatchObject({
    remoteAddress: '127.0.0.1',
    responseHeaders: null,
  });
});

it('a receiver whose headers are long and not text is logged all the same, with at most 4 KiB of them', async () => {
  const { account, webhookId, receiver } = await scene();
  receiver.reply = (_, response) => {
    response.socket!.end(
      Buffer.concat([
        Buffer.from('HTTP/1.1 204 X\r\nX-First: 1\r\nX-Bytes: a'),
        Buffer.from([0xff, 0xfe, 0xed, 0xa0, 0x80, 0xc2]),
        Buffer.from(
          `\r\n__proto__: x\r\nX-Long: ${'é'.repeat(3_000)}\r\n${'X-Many: 1\r\n'.repeat(500)}X-Last: 2\r\n\r\n`,
        ),
      ]),
    );
  };
  const deliveryId = await orderDelivered(account, webhookId);
  const [attempt] = await attemptsOf(account, deliveryId, 1);
  const shown = attempt!.responseHeaders as Record<string, string>;
  expect(attempt!.statusCode).toBe(204);
  expect(Object.keys(shown)).toEqual(['x-first', 'x-bytes', '__proto__', 'x-many', 'x-last']);
  expect(shown['x-bytes']).toBe('a' + '�'.repeat(6));
});

it('an erased shipment shows no headers of responses, and none are stored', async () => {
  const { account, webhookId, response } = await scene();
  response.headers = { 'X-Said': 'planted' };
  const deliveryId = await orderDelivered(account, webhookId);
  await redeliver(account, deliveryId);
  await attemptsOf(account, deliveryId, 2);
  const { trackingId } = (await account.call(`/v1/deliveries/${deliveryId}`)).data as { trackingId: string };
  await operator(service, `/shipments/${trackingId}/erase`, { method: 'POST' });
  for (const attempt of await attemptsOf(account, deliveryId, 2))
    expect(attempt).toMatchObject({ statusCode: 200, remoteAddress: '127.0.0.1', responseHeaders: null });
  const kept = (table: string) =>
    service.sql(`select from ${table} where delivery_id = $1 and response_headers is not null`, [deliveryId]);
  expect([...(await kept('deliveries')), ...(await kept('attempts'))]).toEqual([]);
});
