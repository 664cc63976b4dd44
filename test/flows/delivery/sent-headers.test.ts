import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { operator, placeOrder, registerAccount, type Account } from '../../support/client.js';
import { findInDatabase } from '../../support/database.js';
import { startProcess, startService, type Service } from '../../support/harness.js';
import type { Received } from '../../support/receiver.js';
import { accountAt } from '../../support/deployment.js';
import { verifyAll } from '../../support/load.js';
import {
  deliveriesOf,
  orderDelivered,
  startHook,
  untilFound,
  untilDelivery,
  type Hook,
  type LoggedDelivery,
} from '../../support/deliveries.js';

const it = test.concurrent;
const planted = 'planted-value';
const own = { 'X-Team': planted, Authorization: `Bearer ${planted}` };
const shortestStepMs = 1_080; // so that each attempt has another second

let service: Service;
const hooks: Hook[] = [];

beforeAll(async () => {
  const env = { RETRY_SCHEDULE: '1200ms', DELIVERY_TIMEOUT: '2s', TIME_SCALE: '0.2' };
  service = await startService({ env });
});
afterAll(async () => {
  await Promise.all(hooks.map(({ receiver }) => receiver.close()));
  await service?.stop();
});

async function hookWith(account: Account, fields: object = { headers: own }): Promise<Hook> {
  const hook = await startHook(account, fields);
  hooks.push(hook);
  return hook;
}

interface Shown {
  number: number;
  startedAt: string;
  requestHeaders: Record<string, string> | null;
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
  response.status = 500;
  const deliveryId = await orderDelivered(account, webhookId);
  await untilDelivery(account, deliveryId, ({ status }) => status === 'FAILED');
  response.status = 200;
  await account.call(`/v1/webhooks/${webhookId}/replay`, {
    body: { from: Date.now() - 600_000, to: Date.now(), status: 'FAILED' },
  });
  await after(account, deliveryId, 3);
  await redeliver(account, deliveryId);
  await after(account, deliveryId, 4);
  response.status = 500;
  await redeliver(account, deliveryId);
  const attempts = attemptsOf(await after(account, deliveryId, 5));

  expect(attempts).toMatchObject([
    { number: 5, trigger: 'MANUAL', statusCode: 500 },
    { number: 4, trigger: 'MANUAL', statusCode: 200 },
    { number: 3, trigger: 'REPLAY' },
    { number: 2, trigger: 'SCHEDULED' },
    { number: 1, trigger: 'SCHEDULED' },
  ]);
  expectShown(attempts, receiver.received);
  const [second, first] = attempts.slice(3).map(({ requestHeaders }) => requestHeaders!);
  expect(Date.parse(attempts[3]!.startedAt) - Date.parse(attempts[4]!.startedAt)).toBeGreaterThan(
    shortestStepMs - 100,
  );
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

it('an attempt without a response shows what was sent, one without a connection shows null', async () => {
  const account = await registerAccount(service);
  const { webhookId, receiver, response } = await hookWith(account);
  response.delayMs = 3_000;
  const { data } = await sendTest(account, webhookId);
  expect(data).toMatchObject({ errorCode: 'TIMEOUT', statusCode: null });
  expectShown([data as unknown as Shown], receiver.received);
  const plain = await hookWith(account);
  await change(account, webhookId, { targetAddress: plain.receiver.url.replace('http:', 'https:') });
  expect((await sendTest(account, webhookId)).data).toMatchObject({ errorCode: 'TLS', requestHeaders: null });
  await plain.receiver.close();
  expect((await sendTest(account, webhookId)).data).toMatchObject({
    errorCode: 'CONNECT',
    requestHeaders: null,
  });
});

it('an erased shipment shows none, and none are stored', async () => {
  const account = await registerAccount(service);
  const { webhookId } = await hookWith(account);
  const deliveryId = await orderDelivered(account, webhookId);
  await redeliver(account, deliveryId);
  const { trackingId } = (await after(account, deliveryId, 2)) as unknown as { trackingId: string };
  await operator(service, `/shipments/${trackingId}/erase`, { method: 'POST' });
  expect(attemptsOf(await after(account, deliveryId, 2))).toMatchObject([
    { number: 2, statusCode: 200, requestHeaders: null },
    { number: 1, statusCode: 200, requestHeaders: null },
  ]);
  const kept = (table: string) =>
    service.sql(`select from ${table} where delivery_id = $1 and request_headers is not null`, [deliveryId]);
  expect([...(await kept('deliveries')), ...(await kept('attempts'))]).toEqual([]);
});

test('an attempt lost with its process shows null, the next one what was sent', async () => {
  const account = await registerAccount(service);
  const { webhookId, receiver, response } = await hookWith(account);
  response.delayMs = 1_500;
  await placeOrder(account);
  await receiver.waitFor(1);
  service.process.kill('SIGKILL');
  await service.process.exited;
  delete response.delayMs;
  service.process = await startProcess(service.env);
  const there = accountAt(account, service.process);

  const deliveryId = await untilFound(
    async () =>
      (await deliveriesOf(there, webhookId)).find(({ status }) => status === 'SUCCEEDED')?.deliveryId,
  );
  const [last, lost] = attemptsOf(await after(there, deliveryId, 2)) as [Shown, Shown];
  expect(lost).toMatchObject({ number: 1, durationMs: null, requestHeaders: null });
  expectShown([last], receiver.received.slice(-1));
});
