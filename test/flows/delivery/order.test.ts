import { beforeAll, expect, test } from '@jest/globals';
import { operator, placeOrder, registerAccount, registerWebhook } from '../../support/client.js';
import { untilState } from '../../support/expect.js';
import { startReceiver, type Received } from '../../support/receiver.js';
import { sharedService, type SharedService } from '../../support/shared-service.js';
import { until } from '../../support/until.js';
import { countShown, deliveriesOf } from '../../support/deliveries.js';

const it = test.concurrent;
/** The schedule would send it again too soon. */
const tryLater = { status: 500, headers: { 'retry-after': '3600' } };

const statesOf = (received: Received[], trackingId: string) =>
  received
    .filter(({ notification }) => notification.tracking_id === trackingId)
    .map(({ notification }) => notification.state);

let service: SharedService;

beforeAll(async () => {
  service = await sharedService('impatient');
});

const send = async (trackingId: string, ...states: string[]) => {
  const response = await operator(service, '/events', {
    body: { events: states.map((state) => ({ trackingId, state })) },
  });
  expect(response.data.results.map((result: { eventId?: string }) => typeof result.eventId)).toEqual(
    states.map(() => 'string'),
  );
};

it('states are sent one at a time in the order recorded, through failures, and other shipments do not wait', async () => {
  const account = await registerAccount(service);
  let failing = '';
  let failures = 2;
  const receiver = await startReceiver(({ notification }) =>
    notification.tracking_id === failing && notification.state === 'PICKED_UP' && failures-- > 0
      ? { status: 500 }
      : {},
  );
  const { webhookId } = await registerWebhook(account, receiver.url);
  failing = await placeOrder(account);
  const other = await placeOrder(account);
  await receiver.waitFor(2);
  await send(failing, 'PICKED_UP', 'IN_TRANSIT', 'OUT_FOR_DELIVERY', 'DELIVERED');
  await send(other, 'PICKED_UP', 'IN_TRANSIT');
  await receiver.waitFor(3, ({ notification }) => notification.tracking_id === other);
  expect(statesOf(receiver.received, failing)).not.toContain('IN_TRANSIT');
  await receiver.waitFor(1, ({ notification }) => notification.state === 'DELIVERED');
  expect(statesOf(receiver.received, failing)).toEqual([
    'CREATED',
    'PICKED_UP',
    'PICKED_UP',
    'PICKED_UP',
    'IN_TRANSIT',
    'OUT_FOR_DELIVERY',
    'DELIVERED',
  ]);
  await account.call(`/v1/webhooks/${webhookId}`, { method: 'DELETE' });
  await receiver.close();
});

it('states held for longer than ORDER_HOLD are sent one at a time and in order, through a failure', async () => {
  const account = await registerAccount(service);
  let failures = 1;
  let underWay = 0;
  let most = 0;
  const receiver = await startReceiver(({ notification }, response) => {
    most = Math.max(most, (underWay += 1));
    response.once('close', () => (underWay -= 1));
    const fails = notification.state === 'PICKED_UP' && failures-- > 0;
    return { delayMs: 100, status: fails ? 500 : 200 };
  });
  const { webhookId } = await registerWebhook(account, receiver.url, { status: 'PAUSED' });
  const trackingId = await placeOrder(account);
  await untilState(account, trackingId, 'CREATED');
  await send(trackingId, 'PICKED_UP', 'IN_TRANSIT', 'OUT_FOR_DELIVERY');
  await service.sql(
    `update events set recorded_at = recorded_at - interval '1 hour' from outbox d
      where d.event_id = events.event_id and d.webhook_id = $1`,
    [webhookId],
  );
  await account.call(`/v1/webhooks/${webhookId}`, { method: 'PATCH', body: { status: 'ACTIVE' } });
  await receiver.waitFor(1, ({ notification }) => notification.state === 'OUT_FOR_DELIVERY');
  const expected = ['CREATED', 'PICKED_UP', 'PICKED_UP', 'IN_TRANSIT', 'OUT_FOR_DELIVERY'];
  expect(statesOf(receiver.received, trackingId)).toEqual(expected);
  expect(most).toBe(1);
  await account.call(`/v1/webhooks/${webhookId}`, { method: 'DELETE' });
  await receiver.close();
});

it('with ordering NONE a later state does not wait', async () => {
  const account = await registerAccount(service);
  const receiver = await startReceiver(({ notification }) =>
    notification.state === 'PICKED_UP' ? tryLater : {},
  );
  const { webhookId } = await registerWebhook(account, receiver.url, { ordering: 'NONE' });
  const trackingId = await placeOrder(account);
  await receiver.waitFor(1);
  await send(trackingId, 'PICKED_UP', 'IN_TRANSIT');
  await receiver.waitFor(1, ({ notification }) => notification.state === 'IN_TRANSIT');
  expect(statesOf(receiver.received, trackingId).slice(0, 3)).toEqual(['CREATED', 'PICKED_UP', 'IN_TRANSIT']);
  await account.call(`/v1/webhooks/${webhookId}`, { method: 'DELETE' });
  await receiver.close();
});

it('with supersede, overtaken states are CANCELLED as SUPERSEDED and terminal ones are not', async () => {
  const account = await registerAccount(service);
  let down = false;
  const receiver = await startReceiver(() => (down ? tryLater : {}));
  const { webhookId } = await registerWebhook(account, receiver.url, { supersede: true });
  const trackingId = await placeOrder(account);
  await receiver.waitFor(1);
  down = true;
  await send(trackingId, 'PICKED_UP');
  await receiver.waitFor(2);
  await send(trackingId, 'IN_TRANSIT');
  await receiver.waitFor(1, ({ notification }) => notification.state === 'IN_TRANSIT');
  await untilWaitingForRetry(webhookId, 'IN_TRANSIT');
  await send(trackingId, 'OUT_FOR_DELIVERY', 'DELIVERED');
  down = false;
  await receiver.waitFor(1, ({ notification }) => notification.state === 'DELIVERED');
  const { data } = await account.call(`/v1/deliveries?webhookId=${webhookId}`);
  const byState = Object.fromEntries(
    data.deliveries.map((delivery: { state: string; status: string; reason: string }) => [
      delivery.state,
      [delivery.status, delivery.reason],
    ]),
  );
  expect(byState).toMatchObject({
    IN_TRANSIT: ['CANCELLED', 'SUPERSEDED'],
    OUT_FOR_DELIVERY: ['CANCELLED', 'SUPERSEDED'],
  });
  expect(byState.DELIVERED[0]).toMatch(/SUCCEEDED|PENDING|SENDING/);
  await receiver.close();
});

it('with supersede, a failed probe of an open circuit that was overtaken meanwhile is superseded', async () => {
  const account = await registerAccount(service);
  const receiver = await startReceiver(() => ({ status: 500, delayMs: 800 }));
  const { webhookId } = await registerWebhook(account, receiver.url, { supersede: true });
  await service.sql(
    `insert into circuits (webhook_id, window_started_at, attempts, failures, open_until) values ($1, now(), 10, 10, now())`,
    [webhookId],
  );
  const trackingId = await placeOrder(account);
  await receiver.waitFor(1);
  await send(trackingId, 'PICKED_UP');
  await until('the probe is superseded', async () => (await countShown(account, webhookId)).CANCELLED === 1);
  expect(await deliveriesOf(account, webhookId)).toMatchObject([
    { state: 'PICKED_UP', status: 'HELD' },
    { state: 'CREATED', status: 'CANCELLED', reason: 'SUPERSEDED' },
  ]);
  await receiver.close();
});

async function untilWaitingForRetry(webhookId: string, state: string) {
  const waiting = `select from outbox where webhook_id = $1 and state = $2 and status = 'RETRY'`;
  await until('a retry', async () => (await service.sql(waiting, [webhookId, state])).length > 0);
}
