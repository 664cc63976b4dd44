import { beforeAll, expect, test } from '@jest/globals';
import { operator, placeOrder, registerAccount } from '../../support/client.js';
import {
  deliveriesOf,
  orderDelivered,
  startHook,
  untilFound,
  untilDelivery,
  type LoggedDelivery,
} from '../../support/deliveries.js';
import { replayCalls } from '../../support/replays.js';
import { sharedService, type SharedService } from '../../support/shared-service.js';

let service: SharedService;

beforeAll(async () => {
  service = await sharedService('impatient');
});

const newShipper = async () => {
  const account = await registerAccount(service);
  const calls = replayCalls(
    () => service,
    () => account,
  );
  return { account, ...calls };
};

test.concurrent('failed deliveries are sent again with the same id and their own schedule', async () => {
  const { account, replay, untilOver, settled } = await newShipper();
  const hook = await startHook(account);
  hook.response.status = 500;
  await placeOrder(account);
  await placeOrder(account);
  await settled(hook.webhookId, 2, 'FAILED');
  expect(hook.receiver.received).toHaveLength(8);
  hook.response.status = 200;
  const response = await replay(hook.webhookId);
  expect(response).toMatchObject({
    httpStatus: 202,
    data: { queued: 2, reason: null, replayId: expect.any(String) },
  });
  const deliveries = await settled(hook.webhookId, 2, 'SUCCEEDED');
  const { attempts } = await untilDelivery(account, deliveries[0]!.deliveryId, () => true);
  expect(attempts).toMatchObject([
    { number: 5, trigger: 'REPLAY', statusCode: 200 },
    ...Array(4).fill({ trigger: 'SCHEDULED' }),
  ]);
  const ids = hook.receiver.received.map(({ headers }) => headers['webhook-id']);
  expect(new Set(ids).size).toBe(2);
  const over = await untilOver(response.data.replayId);
  expect(over).toMatchObject({
    replayId: response.data.replayId as string,
    webhookId: hook.webhookId,
    total: 2,
    done: 2,
    status: 'DONE',
    deliveryStatus: null,
    trackingId: null,
    createdAt: expect.any(String),
    finishedAt: expect.any(String),
  });
  expect(Date.parse(over.to) - Date.parse(over.from)).toBeGreaterThan(3_599_000);
  expect((await operator(service, '/status')).data.replays).toContainEqual(over);
  expect((await replay(hook.webhookId)).data.queued).toBe(0);
  await hook.close();
});

test.concurrent('a failed attempt of a replay is retried by the schedule', async () => {
  const { account, replay } = await newShipper();
  const hook = await startHook(account);
  hook.response.status = 500;
  const deliveryId = await orderDelivered(account, hook.webhookId);
  await untilDelivery(account, deliveryId, ({ status }) => status === 'FAILED');
  await replay(hook.webhookId);
  const isOver = ({ attemptCount, status }: LoggedDelivery) => attemptCount === 9 && status === 'FAILED';
  const { attempts } = await untilDelivery(account, deliveryId, isOver);
  const scheduled = Array<string>(4).fill('SCHEDULED');
  expect(attempts.map(({ trigger }) => trigger)).toEqual([...scheduled, 'REPLAY', ...scheduled]);
  await hook.close();
});

test.concurrent(
  'a webhook registered late gets earlier events, of its interests only, in order',
  async () => {
    const { account, lastHour, replay, untilOver } = await newShipper();
    const from = Date.now();
    const trackingIds = [await placeOrder(account), await placeOrder(account)];
    for (const trackingId of trackingIds) {
      await untilFound(
        async () => (await account.call(`/v1/shipment-tracking/${trackingId}`)).data.state as string,
      );
      for (const state of ['PICKED_UP', 'IN_TRANSIT'])
        expect(await operator(service, `/shipments/${trackingId}/events`, { body: { state } })).toMatchObject(
          { httpStatus: 202 },
        );
    }
    const hook = await startHook(account, { interests: ['CREATED', 'IN_TRANSIT'] });
    const one = await replay(hook.webhookId, { ...lastHour(), trackingId: trackingIds[1] });
    expect(one.data.queued).toBe(2);
    const received = await hook.receiver.waitFor(2);
    expect(received.map(({ notification }) => [notification.tracking_id, notification.state])).toEqual([
      [trackingIds[1], 'CREATED'],
      [trackingIds[1], 'IN_TRANSIT'],
    ]);
    await untilOver(one.data.replayId);
    const failedOnly = await replay(hook.webhookId, { ...lastHour(), status: 'FAILED' });
    expect(failedOnly.data.queued).toBe(0);
    const earlier = await replay(hook.webhookId, { from: from - 60_000, to: from - 1 });
    expect(earlier.data.queued).toBe(0);
    expect((await replay(hook.webhookId, { from: from - 1, to: Date.now() })).data.queued).toBe(2);
    await hook.receiver.waitFor(4);
    expect(hook.receiver.received).toHaveLength(4);
    await hook.close();
  },
);

test.concurrent('deliveries to a paused webhook are held until it is active', async () => {
  const { account, lastHour, replay, progressOf, untilOver, untilWalked, settled } = await newShipper();
  const hook = await startHook(account, { status: 'PAUSED' });
  await orderDelivered(account, hook.webhookId);
  const response = await replay(hook.webhookId, { ...lastHour(), status: 'HELD' });
  expect(response.data.queued).toBe(1);
  await untilWalked(response.data.replayId);
  expect(await progressOf(response.data.replayId)).toMatchObject({ status: 'RUNNING', done: 0, total: 1 });
  expect((await deliveriesOf(account, hook.webhookId))[0]).toMatchObject({ status: 'HELD' });
  expect(hook.receiver.received).toHaveLength(0);
  await account.call(`/v1/webhooks/${hook.webhookId}`, { method: 'PATCH', body: { status: 'ACTIVE' } });
  const [delivery] = await settled(hook.webhookId, 1, 'SUCCEEDED');
  const { attempts } = await untilDelivery(account, delivery!.deliveryId, () => true);
  expect(attempts).toMatchObject([{ trigger: 'REPLAY' }]);
  expect(await untilOver(response.data.replayId)).toMatchObject({ status: 'DONE', done: 1, total: 1 });
  await hook.close();
});

test.concurrent(
  'days outside an earlier, shorter retention are stored for the deliveries of a replay',
  async () => {
    const { account, replay, untilOver } = await newShipper();
    const hook = await startHook(account, { interests: ['*'], ordering: 'NONE' });
    const trackingId = await placeOrder(account);
    await hook.receiver.waitFor(1);
    await service.sql(
      `insert into events (event_id, shipper_id, shipment_id, sequence, state, recorded_at, body)
     select overlay(gen_random_uuid()::text placing left(uuid_floor(now() - interval '3 days')::text, 15) from 1 for 15)::uuid,
            shipper_id, shipment_id, 9, 'LOST', now(), '{}'
       from shipments where tracking_id = $1`,
      [trackingId],
    );
    const from = Date.now() - 4 * 86_400_000;
    const response = await replay(hook.webhookId, { from, to: Date.now() });
    expect(response.data.queued).toBe(1);
    await untilOver(response.data.replayId);
    await hook.receiver.waitFor(2);
    await hook.close();
  },
);

test.concurrent('a replay ends with its webhook', async () => {
  const { account, replay, untilOver } = await newShipper();
  const hook = await startHook(account);
  const response = await replay(hook.webhookId);
  await service.sql('update webhooks set deleted_at = now() where webhook_id = $1', [hook.webhookId]);
  expect(['DONE', 'CANCELLED']).toContain((await untilOver(response.data.replayId)).status);
  expect((await replay(hook.webhookId)).httpStatus).toBe(404);
  await hook.receiver.close();
});

test.concurrent("a wrong range is named, and no shipper can replay to another's webhook", async () => {
  const { account, lastHour, replay } = await newShipper();
  const hook = await startHook(account);
  const other = await registerAccount(service);
  const problems = async (body: object) => {
    const response = await replay(hook.webhookId, body);
    expect(response.httpStatus).toBe(400);
    return response.body.error.details;
  };
  const to = new Date().toISOString();
  expect(await problems({})).toMatchObject([{ path: 'from' }, { path: 'to' }]);
  expect(await problems({ from: 'yesterday', to })).toMatchObject([{ path: 'from' }]);
  expect(await problems({ from: '2026-11-21T12:00:00', to })).toMatchObject([{ path: 'from' }]);
  expect(await problems({ from: '2026-02-30', to })).toMatchObject([{ path: 'from' }]);
  expect(await problems({ ...lastHour(), status: 'SUCCEEDED' })).toMatchObject([{ path: 'status' }]);
  expect(await problems({ from: to, to })).toMatchObject([{ path: 'from' }]);
  expect(await problems({ from: to, to: 0, status: 'SUCCEEDED' })).toMatchObject([
    { path: 'status' },
    { path: 'from', message: 'must be before to' },
  ]);
  expect((await replay(hook.webhookId, lastHour(), other)).httpStatus).toBe(404);
  expect((await replay(hook.webhookId, { ...lastHour(), trackingId: 'NOSUCH' })).httpStatus).toBe(404);
  const theirs = await placeOrder(other);
  expect((await replay(hook.webhookId, { ...lastHour(), trackingId: theirs })).httpStatus).toBe(404);
  expect((await operator(service, '/replays/none/cancel', { method: 'POST' })).httpStatus).toBe(404);
  await hook.close();
});

test('at most ten replays of a webhook run at once', async () => {
  const { account, replay } = await newShipper();
  const hook = await startHook(account);
  await service.sql(
    `insert into replays (replay_id, webhook_id, shipper_id, last_event_id, end_event_id, total, next_at)
     select gen_random_uuid(), $1, $2, uuid_floor(now()), uuid_floor(now()), 0, 'infinity' from generate_series(1, 10)`,
    [hook.webhookId, account.shipperId],
  );
  expect((await replay(hook.webhookId)).httpStatus).toBe(409);
  await service.sql(`update replays set status = 'CANCELLED' where webhook_id = $1`, [hook.webhookId]);
  await hook.close();
});
