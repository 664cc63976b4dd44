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
