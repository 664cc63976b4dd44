import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createSealer, createSecretBox, newSecret } from '../../../src/engine/send/sealing.js';
import {
  operator,
  placeOrder,
  registerAccount,
  registerWebhook,
  type Account,
} from '../../support/client.js';
import { startProcess, startServiceWith, stopProcess, type Service } from '../../support/harness.js';
import { startReceiver, type Received, type Receiver } from '../../support/receiver.js';
import { placeOrders, repeated } from '../../support/load.js';
import { until } from '../../support/until.js';

const slots = 20;
/** Far longer than a healthy receiver waits on the slowest machine; `half-hang` (R11) measures the wait. */
const hangsMs = 10_000;

let service: Service;
let hanging: Receiver;
let healthy: Receiver;
let sick: Account;
let well: Account;

beforeAll(async () => {
  service = await startServiceWith({
    DELIVERY_CONCURRENCY: String(slots),
    DELIVERY_TIMEOUT: `${hangsMs}ms`,
    RETRY_SCHEDULE: '1h',
  });
  hanging = await startReceiver(() => undefined);
  healthy = await startReceiver();
  [sick, well] = await Promise.all([registerAccount(service), registerAccount(service)]);
  await registerWebhook(well, healthy.url);
});
afterAll(async () => {
  await Promise.all([hanging?.close(), healthy?.close()]);
  await service?.stop();
});

test('hanging receivers, more than there are places, do not delay a healthy one', async () => {
  for (let n = 0; n < slots + 10; n += 1) await registerWebhook(sick, `${hanging.url}/${n}`);
  for (let n = 0; n < 5; n += 1) await placeOrder(sick);
  await hanging.waitFor(slots);
  const latenciesMs: number[] = [];
  for (let n = 0; n < 20; n += 1) {
    const before = healthy.received.length;
    const acceptedAt = Date.now();
    await placeOrder(well);
    await healthy.waitFor(before + 1);
    latenciesMs.push(Date.now() - acceptedAt);
  }
  expect(Math.max(...latenciesMs)).toBeLessThan(hangsMs / 2);
  await hanging.close(); // frees all slots for the other tests
});

test('a slow receiver with a backlog gets the longest due first: new orders do not overtake later states', async () => {
  const respondsAfterMs = 1_100;
  const atOnce = 4; // of a slow lane, however few slots there are
  const everyMs = respondsAfterMs / atOnce / 1.5; // one and a half times its capacity
  const slow = await startReceiver(() => ({ delayMs: respondsAfterMs }));
  const account = await registerAccount(service);
  await registerWebhook(account, slow.url);
  const trackingIds: string[] = [];
  for (let n = 0; n < 40; n += 1) {
    trackingIds.push(await placeOrder(account));
    await sleep(everyMs);
    const earlier = trackingIds.at(-6); // sent a while ago
    if (n % 2 === 0 || earlier === undefined) continue;
    await operator(service, `/shipments/${earlier}/events`, { body: { state: 'PICKED_UP' } });
    await sleep(everyMs);
  }
  const isLater = ({ notification }: Received) => notification.state === 'PICKED_UP';
  await slow.waitFor(8, isLater);
  const recordedAtMs = ({ notification }: Received) => Number(notification.timestamp);
  const passedOverMs = slow.received.map((one, index) => {
    const before = slow.received.slice(0, index).map(recordedAtMs);
    return Math.max(0, ...before) - recordedAtMs(one);
  });
  expect(Math.max(...passedOverMs)).toBeLessThan(3_000);
  await slow.close();
});

test("a burst of one shipper's events keeps no other shipper's orders waiting", async () => {
  const steady = await startReceiver(() => ({ delayMs: 250 }));
  const busy = await registerAccount(service);
  await registerWebhook(busy, steady.url, { ordering: 'NONE' });
  const trackingId = await placeOrder(busy);
  const load = (states: string[]) =>
    operator(service, '/events', { body: { events: states.map((state) => ({ trackingId, state })) } });
  await load(['PICKED_UP', 'IN_TRANSIT']);
  await steady.waitFor(3); // known as quick from now on
  await load(Array<string>(1_000).fill('IN_TRANSIT')); // 25 s of work for ten attempts at once
  const before = healthy.received.length;
  await Promise.all([placeOrder(well), placeOrder(well)]);
  await healthy.waitFor(before + 2);
  expect(steady.received.length).toBeLessThan(500);
  await steady.close();
});

test('an event owed to very many webhooks lets other events go first', async () => {
  const many = 2_000;
  const crowd = await startReceiver(() => ({ delayMs: 50 }));
  const crowded = await registerAccount(service);
  const { webhookId } = await registerWebhook(crowded, crowd.url);
  const sealed = createSealer(createSecretBox(service.env.SECRETS_KEY!, undefined));
  const ids = Array.from({ length: many - 1 }, () => randomUUID());
  await service.sql(
    `insert into webhooks
     select (jsonb_populate_record(w, jsonb_build_object('webhook_id', n.id, 'secret', n.secret))).*
       from webhooks w, unnest($2::uuid[], $3::text[]) as n (id, secret) where webhook_id = $1`,
    [webhookId, ids, ids.map((id) => sealed.sealSecret(id, newSecret()))],
  );
  await placeOrder(crowded);
  await crowd.waitFor(100);
  const before = healthy.received.length;
  await placeOrder(well);
  await healthy.waitFor(before + 1);
  expect(crowd.received.length).toBeLessThan(many * 0.7);
  crowd.reply = () => ({});
  await crowd.waitFor(many, undefined, 50_000);
  expect(repeated(crowd.received)).toBe(many - 1);
  await crowd.close();
});

test('a backlog far larger than its lane is delivered in order and completely', async () => {
  const receiver = await startReceiver(() => ({ delayMs: 1 }));
  const account = await registerAccount(service);
  await registerWebhook(account, receiver.url);
  const placed: string[] = [];
  for (let n = 0; n < 30; n += 1)
    placed.push(...(await Promise.all(Array.from({ length: 50 }, () => placeOrder(account)))));
  await receiver.waitFor(placed.length, undefined, 50_000);
  expect(new Set(receiver.received.map(({ notification }) => notification.tracking_id))).toEqual(
    new Set(placed),
  );
  expect(receiver.received).toHaveLength(placed.length);
  await receiver.close();
});

test('a worker that starts late helps with the backlog of another', async () => {
  const receiver = await startReceiver(() => ({ delayMs: 1_000 })); // the backlog outlasts a slow start
  const account = await registerAccount(service);
  const { webhookId } = await registerWebhook(account, receiver.url);
  const setStatus = (status: string) =>
    account.call(`/v1/webhooks/${webhookId}`, { method: 'PATCH', body: { status } });
  await setStatus('PAUSED');
  const placed = await placeOrders(account, 400);
  await setStatus('ACTIVE');
  await receiver.waitFor(1);
  const late = await startProcess(service.env, 'worker');
  try {
    await until('the late worker has sent some', () => late.output().includes('"msg":"attempt"'), 30_000);
    expect(receiver.received.length).toBeLessThan(placed.length);
    receiver.reply = () => ({});
    await receiver.waitFor(placed.length, undefined, 50_000);
    expect(repeated(receiver.received)).toBe(0);
  } finally {
    await stopProcess(late);
    await receiver.close();
  }
});
