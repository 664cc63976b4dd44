import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { operator, placeOrder, registerAccount, type Account } from '../../support/client.js';
import { findInDatabase } from '../../support/database.js';
import type { Received } from '../../support/receiver.js';
import { verifyAll } from '../../support/load.js';
import { sharedService, type SharedService } from '../../support/shared-service.js';
import {
  deliveriesOf,
  orderDelivered,
  startHook,
  untilDelivery,
  untilFound,
  type Hook,
  type LoggedDelivery,
} from '../../support/deliveries.js';

const it = test.concurrent;
const ms = expect.any(Number);
/** Others use the same database. */
const planted = `planted-${randomUUID()}`;
const own = { 'X-Team': planted, Authorization: `Bearer ${planted}` };

let service: SharedService;
const hooks: Hook[] = [];

beforeAll(async () => {
  service = await sharedService('impatient');
});
afterAll(() => Promise.all(hooks.map(({ receiver }) => receiver.close())));

async function hookWith(account: Account, fields: object = { headers: own }): Promise<Hook> {
  const hook = await startHook(account, fields);
  hooks.push(hook);
  return hook;
}

interface Shown {
  number: number;
  startedAt: string;
  requestHeaders: Record<string, string> | null;
  waitedMs?: { us: number } | null;
}

const attemptsOf = (delivery: LoggedDelivery) => delivery.attempts as unknown as Shown[];
const after = (account: Account, deliveryId: string, count: number) =>
  untilDelivery(account, deliveryId, ({ attempts }) => attempts.length === count);
const redeliver = (account: Account, deliveryId: string) =>
  account.call(`/v1/deliveries/${deliveryId}/redeliver`, { method: 'POST' });
const sendTest = (account: Account, webhookId: string) =>
  account.call(`/v1/webhooks/${webhookId}/test`, { method: 'POST' });
const change = (account: Account, webhookId: string, body: object) =>
  account.call(`/v1/webhooks/${webhookId}`, { method: 'PATCH', body });

const asShown = (received: Received[], names: string[] = Object.keys(own)) =>
  received
    .map(({ headers }) => ({
      ...headers,
      ...Object.fromEntries(names.map((name) => [name.toLowerCase(), '••••'])),
    }))
    .reverse();

function expectShown(attempts: Shown[], received: Received[], names?: string[]): void {
  expect(attempts.map(({ requestHeaders }) => requestHeaders)).toEqual(asShown(received, names));
  for (const { number, startedAt, requestHeaders } of attempts)
    expect(requestHeaders).toMatchObject({
      'webhook-timestamp': String(Math.floor(Date.parse(startedAt) / 1_000)),
      'parcelhook-attempt': String(number),
    });
}

it('an attempt shows all headers that the receiver got, with the webhook’s own values masked', async () => {
  const account = await registerAccount(service);
  const { webhookId, receiver, secret } = await hookWith(account);
  const deliveryId = await orderDelivered(account, webhookId);
  const [received] = receiver.received;
  expect(received!.headers).toMatchObject({ 'x-team': planted, authorization: `Bearer ${planted}` });

  const response = await account.call(`/v1/deliveries/${deliveryId}`);
  expectShown(attemptsOf(response.data as unknown as LoggedDelivery), receiver.received);
  const [{ requestHeaders }] = response.data.attempts as [Shown];
  verifyAll([{ ...received!, headers: requestHeaders! }], secret);

  expect(JSON.stringify(response.body)).not.toContain(planted);
  expect(await findInDatabase(service.sql, [planted, secret])).toEqual([]);
  const stranger = await registerAccount(service);
  expect((await stranger.call(`/v1/deliveries/${deliveryId}`)).httpStatus).toBe(404);
});

it('a retry, a replay and a redelivery show each attempt with its own time, number and signature', async () => {
  const account = await registerAccount(service);
  const { webhookId, receiver, response } = await hookWith(account);
  // So that the second attempt has another second.
  receiver.reply = ({ headers }) => ({
    ...response,
    ...(headers['parcelhook-attempt'] === '1' && { headers: { 'retry-after': '1' } }),
  });
  response.status = 500;
  const deliveryId = await orderDelivered(account, webhookId);
  await untilDelivery(account, deliveryId, ({ status }) => status === 'FAILED');
  response.status = 200;
  await account.call(`/v1/webhooks/${webhookId}/replay`, {
    body: { from: Date.now() - 600_000, to: Date.now(), status: 'FAILED' },
  });
  await after(account, deliveryId, 5);
  await redeliver(account, deliveryId);
  await after(account, deliveryId, 6);
  response.status = 500;
  await redeliver(account, deliveryId);
  const attempts = attemptsOf(await after(account, deliveryId, 7));

  expect(attempts).toMatchObject([
    { number: 7, trigger: 'MANUAL', statusCode: 500 },
    { number: 6, trigger: 'MANUAL', statusCode: 200 },
    { number: 5, trigger: 'REPLAY' },
    { number: 4, trigger: 'SCHEDULED' },
    { number: 3, trigger: 'SCHEDULED' },
    { number: 2, trigger: 'SCHEDULED' },
    { number: 1, trigger: 'SCHEDULED' },
  ]);
  expectShown(attempts, receiver.received);
  const [second, first] = attempts.slice(5).map(({ requestHeaders }) => requestHeaders!);
  expect(second!['webhook-timestamp']).not.toBe(first!['webhook-timestamp']);
  expect(second!['webhook-signature']).not.toBe(first!['webhook-signature']);
});

it('attempts show what was sent, whatever the webhook’s address, headers and secret became', async () => {
  const account = await registerAccount(service);
  const { webhookId, receiver } = await hookWith(account);
  const moved = await hookWith(account, { interests: ['LOST'] });
  const deliveryId = await orderDelivered(account, webhookId);
  await change(account, webhookId, { targetAddress: moved.receiver.url, headers: { 'X-Other': planted } });
  await account.call(`/v1/webhooks/${webhookId}/rotate-secret`, { body: { overlap: '0s' } });
  await redeliver(account, deliveryId);

  const [last, first] = attemptsOf(await after(account, deliveryId, 2)) as [Shown, Shown];
  expectShown([first], receiver.received);
  expectShown([last], moved.receiver.received, ['x-other']);
  expect(last.requestHeaders!.host).not.toBe(first.requestHeaders!.host);
  await change(account, webhookId, { headers: {} });
  await redeliver(account, deliveryId);
  expectShown(
    attemptsOf(await after(account, deliveryId, 3)).slice(0, 1),
    moved.receiver.received.slice(-1),
    [],
  );
});

it('a test shows them in its response and in the log, with both signatures during a rotation', async () => {
  const account = await registerAccount(service);
  const { webhookId, receiver, secret } = await hookWith(account);
  const rotated = await account.call(`/v1/webhooks/${webhookId}/rotate-secret`, { method: 'POST' });
  const { data } = await sendTest(account, webhookId);
  const { received } = receiver;
  expectShown([data as unknown as Shown], received);
  expect((data as unknown as Shown).requestHeaders!['webhook-signature']!.split(' ')).toHaveLength(2);
  const shown = received.map((request) => ({
    ...request,
    headers: (data as unknown as Shown).requestHeaders!,
  }));
  for (const one of [secret, rotated.data.secret as string]) verifyAll(shown, one);
  expectShown(attemptsOf(await after(account, data.deliveryId as string, 1)), received);
});

it('by default a success by the schedule shows no phases, address or headers; a failure, a redelivery and a test do', async () => {
  const account = await registerAccount(await sharedService());
  const { webhookId, receiver, response } = await hookWith(account);
  const nothing = {
    ...{ dnsMs: null, connectMs: null, tlsMs: null, firstByteMs: null, remoteAddress: null },
    ...{ errorDetail: null, requestHeaders: null, responseHeaders: null, requestedBy: null },
  };
  const deliveryId = await orderDelivered(account, webhookId);
  const [{ waitedMs, ...rest }] = attemptsOf(await after(account, deliveryId, 1)) as [Shown];
  expect(waitedMs?.us ?? 5_000).toBeGreaterThanOrEqual(5_000); // it is shown if it was late
  expect([rest]).toEqual([
    {
      ...{ number: 1, trigger: 'SCHEDULED', startedAt: expect.any(String), durationMs: ms },
      ...{ statusCode: 200, errorCode: null, responseBody: 'ok' },
      ...nothing,
    },
  ]);
  await redeliver(account, deliveryId);
  const [again, first] = (await after(account, deliveryId, 2)).attempts;
  expect(first).toMatchObject(nothing);
  response.status = 500;
  const failed = await orderDelivered(account, webhookId);
  const [failure] = (await after(account, failed, 1)).attempts;
  const { data: tested } = await sendTest(account, webhookId);
  for (const attempt of [again, failure, tested])
    expect(attempt).toMatchObject({ firstByteMs: ms, remoteAddress: '127.0.0.1', responseHeaders: {} });
  expectShown([tested, failure, again] as unknown as Shown[], receiver.received.slice(1));
});

it('an attempt says what its delivery waited for: a pause, and then its turn', async () => {
  const account = await registerAccount(service);
  const { webhookId, response } = await hookWith(account, { status: 'PAUSED' });
  response.status = 500;
  const trackingId = await placeOrder(account);
  await operator(service, `/shipments/${trackingId}/events`, { body: { state: 'PICKED_UP' } });
  const held = await untilFound(async () => {
    const all = await deliveriesOf(account, webhookId);
    return all.length === 2 && all.every(({ status }) => status === 'HELD') && all;
  });
  await change(account, webhookId, { status: 'ACTIVE' });
  const [second, first] = await Promise.all(
    held.map(({ deliveryId }) => untilDelivery(account, deliveryId, ({ status }) => status === 'FAILED')),
  );
  const waited = (delivery: LoggedDelivery) =>
    delivery.attempts.map(({ waitedMs }) => waitedMs as Record<string, number>).reverse();
  const none = { turn: 0, receiver: ms, circuit: 0, paused: 0, rate: 0, us: ms };
  expect(waited(first!)).toEqual([{ ...none, paused: ms }, none, none, none]);
  expect(waited(first!)[0]!.paused).toBeGreaterThan(0);
  expect(waited(second!)[0]).toEqual({ ...none, paused: ms, turn: ms });
  expect(waited(second!)[0]!.turn).toBeGreaterThan(100);
});

it('a delivery whose response has a malformed header succeeds with its status, and the log says what was wrong', async () => {
  const account = await registerAccount(await sharedService());
  const { webhookId } = await hookWith(account, {});
  const server = createServer((socket) =>
    socket
      .on('error', () => {})
      .once('data', () => socket.write('HTTP/1.1 202 Accepted\r\nBad Name: x\r\n\r\n')),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const targetAddress = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  await change(account, webhookId, { targetAddress });
  const deliveryId = await orderDelivered(account, webhookId);
  const { status, attempts } = await after(account, deliveryId, 1);
  expect(status).toBe('SUCCEEDED');
  expect(attempts).toMatchObject([
    { statusCode: 202, errorCode: null, errorDetail: 'MALFORMED_HEADER', responseBody: null, dnsMs: null },
  ]);
  server.close();
});

it('an attempt without a response shows what was sent, one without a connection shows null', async () => {
  const account = await registerAccount(service);
  const { webhookId, receiver, response } = await hookWith(account);
  response.delayMs = 3_000;
  const { data } = await sendTest(account, webhookId);
  expect(data).toMatchObject({ errorCode: 'TIMEOUT', statusCode: null });
  expectShown([data as unknown as Shown], receiver.received);
  const plain = await hookWith(account);
  await change(account, webhookId, {
    targetAddress: plain.receiver.url.replace('http:', 'https:'),
    headers: own,
  });
  expect((await sendTest(account, webhookId)).data).toMatchObject({ errorCode: 'TLS', requestHeaders: null });
  await plain.receiver.close();
  expect((await sendTest(account, webhookId)).data).toMatchObject({
    errorCode: 'CONNECT',
    requestHeaders: null,
  });
});
