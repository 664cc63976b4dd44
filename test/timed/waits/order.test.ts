import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { operator, placeOrder, registerAccount, registerWebhook } from '../../support/client.js';
import { startServiceWith, type Service } from '../../support/harness.js';
import { placeOrders } from '../../support/load.js';
import { startReceiver, type Received } from '../../support/receiver.js';
import { until } from '../../support/until.js';

let service: Service;

beforeAll(async () => {
  service = await startServiceWith({ RETRY_SCHEDULE: '800ms,800ms,800ms', ORDER_HOLD: '4s' });
});
afterAll(() => service?.stop());

const statesOf = (received: Received[], trackingId: string) =>
  received
    .filter(({ notification }) => notification.tracking_id === trackingId)
    .map(({ notification }) => notification.state);

const send = async (trackingId: string, ...states: string[]) => {
  const response = await operator(service, '/events', {
    body: { events: states.map((state) => ({ trackingId, state })) },
  });
  expect(response.data.results.map((result: { eventId?: string }) => typeof result.eventId)).toEqual(
    states.map(() => 'string'),
  );
};

test.concurrent('a later state waits for an earlier one no longer than ORDER_HOLD', async () => {
  const account = await registerAccount(service);
  const receiver = await startReceiver(({ notification }) =>
    notification.state === 'PICKED_UP' ? { status: 503, headers: { 'retry-after': '60' } } : {},
  );
  const { webhookId } = await registerWebhook(account, receiver.url);
  const trackingId = await placeOrder(account);
  await receiver.waitFor(1);
  await send(trackingId, 'PICKED_UP', 'IN_TRANSIT');
  const sentAt = Date.now();
  const [later] = await receiver.waitFor(1, ({ notification }) => notification.state === 'IN_TRANSIT');
  expect(later!.at - sentAt).toBeGreaterThan(3_500);
  expect(later!.at - sentAt).toBeLessThan(10_000);
  await account.call(`/v1/webhooks/${webhookId}`, { method: 'DELETE' });
  await receiver.close();
});

test.concurrent('the wait for a turn is suspended while the webhook is paused', async () => {
  const account = await registerAccount(service);
  const receiver = await startReceiver(({ notification }) =>
    notification.state === 'PICKED_UP' ? { status: 503, headers: { 'retry-after': '60' } } : {},
  );
  const { webhookId } = await registerWebhook(account, receiver.url);
  const patch = (status: string) =>
    account.call(`/v1/webhooks/${webhookId}`, { method: 'PATCH', body: { status } });
  const trackingId = await placeOrder(account);
  await receiver.waitFor(1);
  await send(trackingId, 'PICKED_UP', 'IN_TRANSIT');
  await receiver.waitFor(2);
  await until('it waits for its retry', async () => {
    const waiting = `select from outbox where webhook_id = $1 and state = 'PICKED_UP' and status = 'RETRY'`;
    return (await service.sql(waiting, [webhookId])).length > 0;
  });
  await patch('PAUSED');
  await sleep(4_500); // longer than ORDER_HOLD
  await send(trackingId, 'OUT_FOR_DELIVERY');
  await patch('ACTIVE');
  const resumedAt = Date.now();
  const [later] = await receiver.waitFor(1, ({ notification }) => notification.state === 'IN_TRANSIT');
  expect(later!.at - resumedAt).toBeGreaterThan(3_500);
  expect(statesOf(receiver.received, trackingId)).toEqual(['CREATED', 'PICKED_UP', 'IN_TRANSIT']);
  await receiver.waitFor(1, ({ notification }) => notification.state === 'OUT_FOR_DELIVERY');
  await account.call(`/v1/webhooks/${webhookId}`, { method: 'DELETE' });
  await receiver.close();
});

test('a burst of states of many shipments is sent without a sweep', async () => {
  const account = await registerAccount(service);
  const receiver = await startReceiver();
  await registerWebhook(account, receiver.url);
  const trackingIds = await placeOrders(account, 60);
  await receiver.waitFor(60);
  const states = ['PICKED_UP', 'IN_TRANSIT', 'IN_TRANSIT', 'OUT_FOR_DELIVERY', 'DELIVERED'];
  const events = states.flatMap((state) => trackingIds.map((trackingId) => ({ trackingId, state })));
  await operator(service, '/events', { body: { events } });
  // The sweeper would take 10 s at least.
  await receiver.waitFor(60 + events.length, undefined, 9_000);
  for (const id of trackingIds) expect(statesOf(receiver.received, id)).toEqual(['CREATED', ...states]);
  expect(receiver.received).toHaveLength(60 + events.length);
  await receiver.close();
});
