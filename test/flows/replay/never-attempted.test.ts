import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import { operator, placeOrder, registerAccount, type Account } from '../../support/client.js';
import {
  deliveriesOf,
  orderDelivered,
  startHook,
  untilDelivery,
  untilFound,
  type Hook,
} from '../../support/deliveries.js';
import { placeOrders, trackingIdOf } from '../../support/load.js';
import { hasten } from '../../support/outbox.js';
import { replayCalls } from '../../support/replays.js';
import { sharedService, type SharedService } from '../../support/shared-service.js';

let service: SharedService;
let account: Account;
beforeAll(async () => {
  service = await sharedService('impatient');
});
beforeEach(async () => {
  account = await registerAccount(service);
});

const { lastHour, replay, untilOver, untilWalked, settled } = replayCalls(
  () => service,
  () => account,
);
const never = (webhookId: string, range: object = lastHour()) =>
  replay(webhookId, { ...range, status: 'NEVER_ATTEMPTED' });

/** Orders whose shipments exist, so that CREATED is recorded. */
async function recordOrders(count: number): Promise<string[]> {
  const trackingIds = await placeOrders(account, count);
  for (const trackingId of trackingIds)
    await untilFound(async () => (await account.call(`/v1/shipment-tracking/${trackingId}`)).data.state);
  return trackingIds;
}

const record = (trackingId: string, state: string) =>
  operator(service, `/shipments/${trackingId}/events`, { body: { state } });

const setStatus = ({ webhookId }: Hook, status: string) =>
  account.call(`/v1/webhooks/${webhookId}`, { method: 'PATCH', body: { status } });

const told = ({ receiver }: Hook) =>
  receiver.received.map((request) => `${trackingIdOf(request)} ${String(request.notification.state)}`);

const triggersOf = async (deliveryId: string) =>
  (await untilDelivery(account, deliveryId, () => true)).attempts.map(({ trigger }) => trigger);

test('a webhook created later gets, once, each earlier event of a state that it wants', async () => {
  const [first, second] = await recordOrders(2);
  await record(first!, 'PICKED_UP');
  await record(first!, 'IN_TRANSIT');
  const hook = await startHook(account, { interests: ['CREATED', 'IN_TRANSIT'] });
  const one = await never(hook.webhookId, { ...lastHour(), trackingId: second });
  expect(one).toMatchObject({ httpStatus: 202, data: { queued: 1, reason: null } });
  await untilOver(one.data.replayId);
  const rest = await never(hook.webhookId);
  expect(rest.data.queued).toBe(2);
  expect(await untilOver(rest.data.replayId)).toMatchObject({
    status: 'DONE',
    done: 2,
    total: 2,
    deliveryStatus: 'NEVER_ATTEMPTED',
  });
  expect((await never(hook.webhookId)).data).toMatchObject({ queued: 0, reason: 'ALL_SUCCEEDED' });
  expect(told(hook)).toEqual([`${second} CREATED`, `${first} CREATED`, `${first} IN_TRANSIT`]);
  await hook.close();
});

test('what a paused webhook holds, and what it missed before it existed, is sent in order once it is active', async () => {
  const [early] = await recordOrders(1);
  const hook = await startHook(account, { interests: ['*'], status: 'PAUSED' });
  const [late] = await recordOrders(1);
  for (const trackingId of [early!, late!]) await record(trackingId, 'PICKED_UP');
  const { data } = await never(hook.webhookId);
  expect(data).toMatchObject({ queued: 4, reason: null });
  await untilWalked(data.replayId);
  expect(hook.receiver.received).toEqual([]);
  // All of it belongs to the first replay now.
  expect((await never(hook.webhookId)).data).toMatchObject({ queued: 0, reason: 'ALL_SUCCEEDED' });
  await setStatus(hook, 'ACTIVE');
  expect(await untilOver(data.replayId)).toMatchObject({ status: 'DONE', done: 4, total: 4 });
  for (const trackingId of [early, late])
    expect(told(hook).filter((text) => text.startsWith(trackingId!))).toEqual([
      `${trackingId} CREATED`,
      `${trackingId} PICKED_UP`,
    ]);
  expect(hook.receiver.received).toHaveLength(4);
  await hook.close();
});

test('what failed, or is held after an attempt, is left alone', async () => {
  const [early] = await recordOrders(1);
  const hook = await startHook(account);
  hook.response.status = 500;
  const failed = await orderDelivered(account, hook.webhookId);
  await untilDelivery(account, failed, ({ status }) => status === 'FAILED');
  Object.assign(hook.response, { status: 503, headers: { 'retry-after': '3600' } });
  const attempted = await orderDelivered(account, hook.webhookId);
  await untilDelivery(account, attempted, ({ status }) => status === 'PENDING');
  await setStatus(hook, 'PAUSED');
  await hasten(service, attempted);
  await untilDelivery(account, attempted, ({ status }) => status === 'HELD');
  const held = await orderDelivered(account, hook.webhookId);
  const before = hook.receiver.received.length;

  const { data } = await never(hook.webhookId);
  expect(data).toMatchObject({ queued: 2, reason: null });
  await untilWalked(data.replayId);
  expect((await never(hook.webhookId)).data).toMatchObject({ queued: 0, reason: 'OTHER_STATUS' });
  Object.assign(hook.response, { status: 200, headers: {} });
  await setStatus(hook, 'ACTIVE');
  expect(await untilOver(data.replayId)).toMatchObject({ status: 'DONE', done: 2, total: 2 });
  await untilDelivery(account, attempted, ({ status }) => status === 'SUCCEEDED');
  expect(hook.receiver.received).toHaveLength(before + 3);
  expect(told(hook)).toContain(`${early} CREATED`);
  expect(await triggersOf(held)).toEqual(['REPLAY']);
  expect(await triggersOf(attempted)).toEqual(['SCHEDULED', 'SCHEDULED']);
  expect((await untilDelivery(account, failed, () => true)).status).toBe('FAILED');
  expect((await never(hook.webhookId)).data).toMatchObject({ queued: 0, reason: 'OTHER_STATUS' });
  await hook.close();
});

test('what only waits for an earlier state of its shipment does not count as never attempted', async () => {
  const hook = await startHook(account);
  Object.assign(hook.response, { status: 503, headers: { 'retry-after': '3600' } });
  const trackingId = await placeOrder(account);
  await hook.receiver.waitFor(1);
  await record(trackingId, 'PICKED_UP');
  await settled(hook.webhookId, 1, 'HELD');
  const { data } = await never(hook.webhookId);
  expect(data).toMatchObject({ queued: 0, reason: 'OTHER_STATUS' });
  await untilOver(data.replayId);
  await setStatus(hook, 'PAUSED');
  expect((await never(hook.webhookId)).data).toMatchObject({ queued: 1, reason: null });
  await hook.close();
});

test('after a cancel, what was held is still sent, and the rest is never attempted as before', async () => {
  const [early] = await recordOrders(1);
  const hook = await startHook(account, { status: 'PAUSED' });
  const held = await orderDelivered(account, hook.webhookId);
  const { data } = await never(hook.webhookId);
  expect(data.queued).toBe(2);
  await untilWalked(data.replayId);
  const cancelled = await account.call(`/v1/replays/${String(data.replayId)}/cancel`, { method: 'POST' });
  expect(cancelled.data).toMatchObject({ status: 'CANCELLED', done: 0, total: 2 });
  await untilFound(async () => (await deliveriesOf(account, hook.webhookId)).length === 1);
  await setStatus(hook, 'ACTIVE');
  await untilDelivery(account, held, ({ status }) => status === 'SUCCEEDED');
  expect(await triggersOf(held)).toEqual(['SCHEDULED']);
  const again = await never(hook.webhookId);
  expect(again.data.queued).toBe(1);
  await untilOver(again.data.replayId);
  expect(told(hook)).toHaveLength(2);
  expect(told(hook)[1]).toBe(`${early} CREATED`);
  await hook.close();
});
