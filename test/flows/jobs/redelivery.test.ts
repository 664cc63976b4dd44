import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { untilState } from '../../support/expect.js';
import { placeOrder, registerAccount, type Account } from '../../support/client.js';
import {
  startProcess,
  startServiceOfRole,
  stopProcess,
  type RunningProcess,
  type Service,
} from '../../support/harness.js';
import {
  deliveriesOf,
  orderDelivered,
  startHook,
  untilFound,
  untilDelivery,
} from '../../support/deliveries.js';
import { askUnheard, hasten, insertLostTest } from '../../support/outbox.js';

const it = test.concurrent;

let service: Service;
let worker: RunningProcess;

beforeAll(async () => {
  const env = { RETRY_SCHEDULE: '1h', DELIVERY_TIMEOUT: '5s', TIME_SCALE: '0.25' };
  service = await startServiceOfRole('api', env);
  worker = await startProcess(service.env, 'worker');
});
afterAll(async () => {
  if (worker) await stopProcess(worker);
  await service?.stop();
});

const scene = async (fields?: object) => {
  const account = await registerAccount(service);
  return { account, ...(await startHook(account, fields)) };
};

const redeliver = (account: Account, deliveryId: string) =>
  account.call(`/v1/deliveries/${deliveryId}/redeliver`, { method: 'POST' });

const untilNoneIsAsked = (webhookId: string) =>
  untilFound(async () => {
    const asked = await service.sql('select from redeliveries where webhook_id = $1', [webhookId]);
    return asked.length === 0;
  });

test('after the response to a delete no redelivery and no test starts', async () => {
  const account = await registerAccount(service);
  for (let round = 0; round < 5; round += 1) {
    const hook = await startHook(account);
    const deliveryId = await orderDelivered(account, hook.webhookId);
    const sendTest = account.call(`/v1/webhooks/${hook.webhookId}/test`, { method: 'POST' });
    const asked = redeliver(account, deliveryId);
    await sleep(round * 3);
    await account.call(`/v1/webhooks/${hook.webhookId}`, { method: 'DELETE' });
    const deletedAt = Date.now();
    await Promise.all([sendTest, asked]);
    await untilNoneIsAsked(hook.webhookId); // an attempt under way counts as requested until it is recorded
    expect(hook.receiver.received.filter(({ at }) => at > deletedAt)).toHaveLength(0);
    await hook.receiver.close();
  }
});

it('a redelivery repeats a succeeded delivery, and its failure leaves the success', async () => {
  const { account, response, receiver, webhookId, close } = await scene();
  const deliveryId = await orderDelivered(account, webhookId);
  expect(await redeliver(account, deliveryId)).toMatchObject({ httpStatus: 202, data: { deliveryId } });
  const [first, second] = await receiver.waitFor(2);
  expect(second!.headers['webhook-id']).toBe(first!.headers['webhook-id']);
  expect(second!.headers['parcelhook-attempt']).toBe('2');
  expect(second!.body).toBe(first!.body);
  await untilDelivery(account, deliveryId, (data) => data.attempts.length === 2);
  response.status = 500;
  await redeliver(account, deliveryId);
  const data = await untilDelivery(account, deliveryId, ({ attempts }) => attempts.length === 3);
  expect(data).toMatchObject({ status: 'SUCCEEDED', attemptCount: 3, nextAttemptAt: null });
  expect(data.attempts).toMatchObject([
    { trigger: 'MANUAL', statusCode: 500 },
    { trigger: 'MANUAL', statusCode: 200 },
    { trigger: 'SCHEDULED', statusCode: 200 },
  ]);
  await close();
});

it('during retries, a failed redelivery leaves the schedule, a successful one ends it', async () => {
  const { account, response, webhookId, close } = await scene();
  response.status = 500;
  const deliveryId = await orderDelivered(account, webhookId);
  const before = await untilDelivery(account, deliveryId, ({ nextAttemptAt }) => nextAttemptAt !== null);
  await redeliver(account, deliveryId);
  const after = await untilDelivery(account, deliveryId, ({ attempts }) => attempts.length === 2);
  expect(after).toMatchObject({ status: 'PENDING', nextAttemptAt: before.nextAttemptAt, attemptCount: 2 });
  const rows = await service.sql(
    'select status, failure_count, lease_until from outbox where delivery_id = $1',
    [deliveryId],
  );
  expect(rows).toEqual([{ status: 'RETRY', failure_count: 1, lease_until: null }]);
  response.status = 204;
  await redeliver(account, deliveryId);
  const done = await untilDelivery(account, deliveryId, ({ status }) => status === 'SUCCEEDED');
  expect(done).toMatchObject({ attemptCount: 3, nextAttemptAt: null });
  await close();
});

it('a FAILED delivery stays so after a failed redelivery and has SUCCEEDED after a successful one', async () => {
  const { account, response, receiver, webhookId, close } = await scene();
  response.status = 500;
  const deliveryId = await orderDelivered(account, webhookId);
  await untilDelivery(account, deliveryId, ({ nextAttemptAt }) => nextAttemptAt !== null);
  await hasten(service, deliveryId);
  const failed = await untilDelivery(account, deliveryId, ({ status }) => status === 'FAILED');
  response.status = 404;
  expect(await redeliver(account, deliveryId)).toMatchObject({ httpStatus: 202, data: { deliveryId } });
  await receiver.waitFor(3, undefined, 1_500);
  const still = await untilDelivery(account, deliveryId, ({ attempts }) => attempts.length === 3);
  expect(still).toMatchObject({ status: 'FAILED', nextAttemptAt: null, completedAt: failed.completedAt });
  response.status = 200;
  await redeliver(account, deliveryId);
  const done = await untilDelivery(account, deliveryId, ({ status }) => status === 'SUCCEEDED');
  expect(done).toMatchObject({ attemptCount: 4, nextAttemptAt: null });
  expect(done.attempts.map(({ trigger, statusCode }) => [trigger, statusCode])).toEqual([
    ['MANUAL', 200],
    ['MANUAL', 404],
    ['SCHEDULED', 500],
    ['SCHEDULED', 500],
  ]);
  expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  await close();
});

it('a redelivery requested while the webhook is paused is sent at once, whatever the status of the delivery', async () => {
  const { account, response, receiver, webhookId, close } = await scene();
  const succeeded = await orderDelivered(account, webhookId);
  response.status = 500;
  const failed = await orderDelivered(account, webhookId);
  await untilDelivery(account, failed, ({ nextAttemptAt }) => nextAttemptAt !== null);
  await hasten(service, failed);
  await untilDelivery(account, failed, ({ status }) => status === 'FAILED');
  await account.call(`/v1/webhooks/${webhookId}`, { method: 'PATCH', body: { status: 'PAUSED' } });
  response.status = 200;
  for (const deliveryId of [succeeded, failed]) {
    await redeliver(account, deliveryId);
    const sent = await untilDelivery(
      account,
      deliveryId,
      ({ status, attempts }) => status === 'SUCCEEDED' && attempts[0]?.trigger === 'MANUAL',
    );
    expect(sent.attempts[0]).toMatchObject({ statusCode: 200 });
  }
  expect(receiver.received).toHaveLength(5);
  const { data } = await account.call(`/v1/webhooks/${webhookId}`);
  expect(data.status).toBe('PAUSED');
  await close();
});

it('set to ACTIVE during a redelivery of a held delivery, it is not sent concurrently', async () => {
  const { account, response, receiver, webhookId, close } = await scene({ status: 'PAUSED' });
  const deliveryId = await orderDelivered(account, webhookId);
  response.delayMs = 800;
  await redeliver(account, deliveryId);
  await receiver.waitFor(1);
  await account.call(`/v1/webhooks/${webhookId}`, { method: 'PATCH', body: { status: 'ACTIVE' } });
  const claim = `select o.status, o.attempt_count, r.number from outbox o join redeliveries r using (delivery_id)
    where delivery_id = $1`;
  expect(await service.sql(claim, [deliveryId])).toEqual([
    { status: 'SENDING', attempt_count: 1, number: 1 },
  ]);
  await untilDelivery(account, deliveryId, ({ status }) => status === 'SUCCEEDED');
  expect(receiver.received).toHaveLength(1);
  await close();
});

it('a held delivery is sent by hand, and stays held if that fails', async () => {
  const { account, response, receiver, webhookId, close } = await scene({ status: 'PAUSED' });
  const deliveryId = await orderDelivered(account, webhookId);
  response.status = 503;
  await redeliver(account, deliveryId);
  const held = await untilDelivery(account, deliveryId, ({ attempts }) => attempts.length === 1);
  expect(held).toMatchObject({ status: 'HELD', attempts: [{ trigger: 'MANUAL', statusCode: 503 }] });
  response.status = 200;
  await redeliver(account, deliveryId);
  await untilDelivery(account, deliveryId, ({ status }) => status === 'SUCCEEDED');
  expect(receiver.received).toHaveLength(2);
  await close();
});

it('a cancelled delivery, or one of a deleted webhook, cannot be sent again', async () => {
  const { account, receiver, webhookId } = await scene();
  const succeeded = await orderDelivered(account, webhookId);
  await account.call(`/v1/webhooks/${webhookId}`, { method: 'PATCH', body: { status: 'PAUSED' } });
  await placeOrder(account);
  while ((await deliveriesOf(account, webhookId)).length < 2) await sleep(20);
  const [held] = await deliveriesOf(account, webhookId);
  expect((await redeliver(await registerAccount(service), held!.deliveryId)).httpStatus).toBe(404);
  expect((await redeliver(account, 'nothing')).httpStatus).toBe(404);
  await account.call(`/v1/webhooks/${webhookId}`, { method: 'DELETE' });
  await untilDelivery(account, held!.deliveryId, ({ status }) => status === 'CANCELLED');
  const cancelled = await redeliver(account, held!.deliveryId);
  expect(cancelled.httpStatus).toBe(409);
  expect(cancelled.body.error.message).toContain('WEBHOOK_DELETED');
  const gone = await redeliver(account, succeeded);
  expect(gone.httpStatus).toBe(409);
  expect(gone.body.error.message).toContain('deleted');
  expect(receiver.received).toHaveLength(1);
  await receiver.close();
});

it('a redelivery requested while the webhook is paused survives any other change to it', async () => {
  const { account, receiver, webhookId, close } = await scene();
  const deliveryId = await orderDelivered(account, webhookId);
  const path = `/v1/webhooks/${webhookId}`;
  await account.call(path, { method: 'PATCH', body: { status: 'PAUSED' } });
  await askUnheard(service, deliveryId);
  await account.call(path, { method: 'PATCH', body: { description: 'changed' } });
  await account.call(`${path}/rotate-secret`, { method: 'POST' });
  await receiver.waitFor(2);
  const sent = await untilDelivery(account, deliveryId, ({ attempts }) => attempts.length === 2);
  expect(sent.attempts).toMatchObject([{ trigger: 'MANUAL', statusCode: 200 }, { trigger: 'SCHEDULED' }]);
  await close();
});

it('a redelivery requested before a pause is not sent after it', async () => {
  const { account, receiver, webhookId, close } = await scene();
  const deliveryId = await orderDelivered(account, webhookId);
  // As if its job were lost: requested, without notifying a worker.
  await service.sql(
    `with asked as (
       insert into redeliveries (shipper_id, delivery_id, webhook_id)
       select shipper_id, delivery_id, webhook_id from deliveries where delivery_id = $1 returning webhook_id)
     update webhooks w set status = 'PAUSED', stopped_at = now() from asked where w.webhook_id = asked.webhook_id`,
    [deliveryId],
  );
  await untilNoneIsAsked(webhookId);
  expect(receiver.received).toHaveLength(1);
  await close();
});

it('after the death of its process a redelivery is sent again, and a test ends FAILED', async () => {
  const { account, receiver, webhookId, close } = await scene();
  const deliveryId = await orderDelivered(account, webhookId);
  await service.sql(
    `insert into redeliveries (shipper_id, delivery_id, webhook_id, number, lease_until)
     select shipper_id, delivery_id, webhook_id, 2, now() from deliveries where delivery_id = $1`,
    [deliveryId],
  );
  const resent = await untilDelivery(account, deliveryId, ({ attempts }) => attempts.length === 3);
  expect(resent.attempts).toMatchObject([
    { number: 3, trigger: 'MANUAL', statusCode: 200 },
    { number: 2, trigger: 'MANUAL', durationMs: null, statusCode: null, errorCode: 'LOST' },
    { trigger: 'SCHEDULED' },
  ]);
  expect(receiver.received).toHaveLength(2);
  const lost = await insertLostTest(service, account, webhookId);
  const ended = await untilDelivery(account, lost, ({ status }) => status === 'FAILED');
  expect(ended.attempts).toMatchObject([{ number: 1, trigger: 'TEST', durationMs: null, errorCode: 'LOST' }]);
  expect(receiver.received).toHaveLength(2);
  await close();
});

it('a replay that the API has accepted is run by a worker', async () => {
  const { account, receiver, webhookId, close } = await scene({ interests: ['LOST'] });
  const trackingId = await placeOrder(account);
  await untilState(account, trackingId, 'CREATED');
  await account.call(`/v1/webhooks/${webhookId}`, { method: 'PATCH', body: { interests: ['*'] } });
  const body = { from: Date.now() - 600_000, to: Date.now() };
  const replay = await account.call(`/v1/webhooks/${webhookId}/replay`, { body });
  expect(replay).toMatchObject({ httpStatus: 202, data: { queued: 1 } });
  await receiver.waitFor(1);
  await close();
});

it('with two workers each redelivery is sent once', async () => {
  const { account, response, receiver, webhookId, close } = await scene();
  const second = await startProcess(service.env, 'worker');
  const deliveryIds = [];
  for (let n = 0; n < 4; n += 1) deliveryIds.push(await orderDelivered(account, webhookId));
  response.delayMs = 300;
  // Two concurrent requests make one attempt.
  const asked = [...deliveryIds, ...deliveryIds].map((deliveryId) => redeliver(account, deliveryId));
  expect((await Promise.all(asked)).every(({ httpStatus }) => httpStatus === 202)).toBe(true);
  for (const deliveryId of deliveryIds)
    await untilDelivery(account, deliveryId, ({ attempts }) => attempts.length === 2);
  await untilNoneIsAsked(webhookId); // a sweep has nothing to send either
  expect(receiver.received).toHaveLength(8);
  expect(await stopProcess(second)).toBe(0);
  await close();
});

it('more redeliveries than a webhook may have concurrently are all sent', async () => {
  const { account, response, receiver, webhookId, close } = await scene();
  const deliveryIds = [];
  for (let n = 0; n < 8; n += 1) deliveryIds.push(await orderDelivered(account, webhookId));
  response.delayMs = 200;
  await Promise.all(deliveryIds.map((deliveryId) => redeliver(account, deliveryId)));
  for (const deliveryId of deliveryIds)
    await untilDelivery(account, deliveryId, ({ attempts }) => attempts.length === 2);
  expect(receiver.received).toHaveLength(16);
  await close();
});
