import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { operator, placeOrder, registerAccount, registerWebhook } from '../../support/client.js';
import {
  startProcess,
  startServiceWith,
  stopProcess,
  type RunningProcess,
  type Service,
} from '../../support/harness.js';
import { startReceiver } from '../../support/receiver.js';
import { placeOrders } from '../../support/load.js';
import { until } from '../../support/until.js';
import { countShown, deliveriesOf, untilAllAre } from '../../support/deliveries.js';

let service: Service;
let secondWorker: RunningProcess;

beforeAll(async () => {
  service = await startServiceWith({ RETRY_SCHEDULE: '1h' });
  secondWorker = await startProcess(service.env, 'worker');
});
afterAll(async () => {
  await stopProcess(secondWorker);
  await service?.stop();
});

const waitingForRetry = async (webhookId: string) => {
  const waiting = `select from outbox where webhook_id = $1 and status = 'RETRY' and failure_count = 1`;
  return (await service.sql(waiting, [webhookId])).length;
};
const isOpen = async (webhookId: string) => {
  const open = 'select 1 from circuits where webhook_id = $1 and open_until is not null';
  return (await service.sql(open, [webhookId])).length > 0;
};
const untilOpenedTwice = (webhookId: string) =>
  until('the circuit is open again', async () => {
    const twice = 'select 1 from circuits where webhook_id = $1 and times_opened = 2';
    return (await service.sql(twice, [webhookId])).length > 0;
  });
const forceOpen = (webhookId: string) =>
  service.sql(
    `insert into circuits (webhook_id, window_started_at, attempts, failures, failing_since, open_until, open_wait,
                           times_opened)
     values ($1, now(), 10, 10, now(), now() + interval '1 hour', interval '1 hour', 1)
     on conflict (webhook_id) do update set open_until = excluded.open_until, open_wait = excluded.open_wait,
                                            times_opened = 1`,
    [webhookId],
  );

test.concurrent(
  'a failing webhook is not called while its circuit is open, uses up no attempts, and gets all deliveries in order when a probe succeeds',
  async () => {
    const account = await registerAccount(service);
    let down = true;
    const receiver = await startReceiver(() => (down ? { status: 500 } : {}));
    const owner = await startReceiver();
    const { webhookId } = await registerWebhook(account, receiver.url, { interests: ['CREATED'] });
    await registerWebhook(account, owner.url, { interests: ['WEBHOOK_FAILING', 'WEBHOOK_RECOVERED'] });
    await Promise.all(Array.from({ length: 10 }, () => placeOrder(account)));
    await until('the circuit opens', () => isOpen(webhookId));
    const [failing] = await owner.waitFor(1);
    expect(failing!.notification).toMatchObject({
      state: 'WEBHOOK_FAILING',
      webhook_id: webhookId,
      reason: 'CIRCUIT_OPEN',
    });

    const calledBefore = receiver.received.length;
    const held: string[] = [];
    for (let n = 0; n < 5; n += 1) held.push(await placeOrder(account));
    await until('five are held', async () => (await countShown(account, webhookId)).HELD === 5);
    expect(receiver.received).toHaveLength(calledBefore);

    // A failed probe extends the wait and costs the delivery no retry.
    await service.sql(`update circuits set open_until = now() where webhook_id = $1`, [webhookId]);
    await receiver.waitFor(calledBefore + 1);
    await untilOpenedTwice(webhookId);
    const probed = await service.sql<{ delivery_id: string }>(
      'select delivery_id, status, failure_count from outbox where webhook_id = $1 and attempt_count = 1 and failure_count = 0',
      [webhookId],
    );
    expect(probed).toMatchObject([{ failure_count: 0, status: 'READY' }]);
    const shown = await account.call(`/v1/deliveries/${probed[0]!.delivery_id}`);
    expect(shown.data).toMatchObject({
      status: 'HELD',
      attempts: [{ trigger: 'SCHEDULED', statusCode: 500 }],
    });
    expect(receiver.received).toHaveLength(calledBefore + 1);

    down = false;
    await service.sql(`update circuits set open_until = now() where webhook_id = $1`, [webhookId]);
    const out = await receiver.waitFor(calledBefore + 6);
    expect(
      out
        .slice(calledBefore + 1)
        .map(({ notification }) => notification.tracking_id)
        .sort(),
    ).toEqual([...held].sort());
    await owner.waitFor(1, ({ notification }) => notification.state === 'WEBHOOK_RECOVERED');
    expect(await isOpen(webhookId)).toBe(false);
    await Promise.all([receiver.close(), owner.close()]);
  },
);

test.concurrent(
  'a redelivery or a test that succeeds closes the circuit like a probe; one that fails does not count',
  async () => {
    const account = await registerAccount(service);
    const call = (path: string) => account.call(path, { method: 'POST' });
    for (const kind of ['redelivery', 'test']) {
      let down = true;
      const receiver = await startReceiver(() => (down ? { status: 500 } : {}));
      const owner = await startReceiver();
      const { webhookId } = await registerWebhook(account, receiver.url, { interests: ['CREATED'] });
      await registerWebhook(account, owner.url, { interests: ['WEBHOOK_RECOVERED'] });
      await forceOpen(webhookId);
      const held = [await placeOrder(account), await placeOrder(account)];
      await until('both are held', async () => (await countShown(account, webhookId)).HELD === 2);
      const { data } = await account.call(`/v1/deliveries?webhookId=${webhookId}&status=HELD`);
      const send = () =>
        kind === 'test'
          ? call(`/v1/webhooks/${webhookId}/test`)
          : call(`/v1/deliveries/${data.deliveries[0].deliveryId as string}/redeliver`);
      const counted = () =>
        service.sql('select attempts, failures, times_opened from circuits where webhook_id = $1', [
          webhookId,
        ]);

      await send();
      await receiver.waitFor(1);
      await until('recorded', async () => {
        const deliveries = await deliveriesOf(account, webhookId);
        return (
          deliveries.filter(({ lastAttempt }) => typeof lastAttempt?.durationMs === 'number').length === 1
        );
      });
      expect(await counted()).toEqual([{ attempts: 10, failures: 10, times_opened: 1 }]);
      expect(await isOpen(webhookId)).toBe(true);

      down = false;
      await send();
      await owner.waitFor(1, ({ notification }) => notification.webhook_id === webhookId);
      for (const trackingId of held)
        await receiver.waitFor(1, ({ notification }) => notification.tracking_id === trackingId);
      const all = kind === 'test' ? { SUCCEEDED: 3, FAILED: 1 } : { SUCCEEDED: 2 }; // a test is a delivery, too
      await until('all have succeeded', async () => {
        const { SUCCEEDED, FAILED, ...open } = await countShown(account, webhookId);
        return SUCCEEDED === all.SUCCEEDED && FAILED === all.FAILED && Object.keys(open).length === 0;
      });
      const [circuit] = await service.sql<{ failing_since: null; last_success_at: Date }>(
        'select failing_since, last_success_at from circuits where webhook_id = $1',
        [webhookId],
      );
      expect(circuit).toEqual({ failing_since: null, last_success_at: expect.any(Date) });
      await Promise.all([receiver.close(), owner.close()]);
    }
  },
);

test.concurrent(
  'the probe is a delivery whose turn it is, not one that waits for a retry of its shipment',
  async () => {
    const account = await registerAccount(service);
    let down = true;
    const receiver = await startReceiver(() => (down ? { status: 500 } : {}));
    const { webhookId } = await registerWebhook(account, receiver.url);
    const failed = [await placeOrder(account), await placeOrder(account)];
    await until('both wait for their retry', async () => (await waitingForRetry(webhookId)) === 2);
    await forceOpen(webhookId);
    const events = failed.map((trackingId) => ({ trackingId, state: 'PICKED_UP' }));
    await operator(service, '/events', { body: { events } });
    const fresh = await placeOrder(account);
    await until('three are held', async () => (await countShown(account, webhookId)).HELD === 3);
    down = false;
    await service.sql(`update circuits set open_until = now() where webhook_id = $1`, [webhookId]);
    await receiver.waitFor(1, ({ notification }) => notification.tracking_id === fresh, 8_000);
    await until('the circuit is closed', async () => !(await isOpen(webhookId)));
    expect(receiver.received[2]!.notification.tracking_id).toBe(fresh);
    await receiver.close();
  },
);

test.concurrent(
  'if all held deliveries wait for a late retry, the probe is one older than ORDER_HOLD',
  async () => {
    const account = await registerAccount(service);
    let down = true;
    const receiver = await startReceiver(() => (down ? { status: 500 } : {}));
    const { webhookId } = await registerWebhook(account, receiver.url);
    const trackingIds = [await placeOrder(account), await placeOrder(account)];
    await until('both wait for their retry', async () => (await waitingForRetry(webhookId)) === 2);
    await forceOpen(webhookId);
    const events = trackingIds.map((trackingId) => ({ trackingId, state: 'PICKED_UP' }));
    await operator(service, '/events', { body: { events } });
    await until('both next ones are held', async () => (await countShown(account, webhookId)).HELD === 2);
    await service.sql(
      `update outbox set first_failed_at = now() - interval '1 hour' where webhook_id = $1 and status = 'RETRY'`,
      [webhookId],
    );
    down = false;
    await service.sql(`update circuits set open_until = now() where webhook_id = $1`, [webhookId]);
    await receiver.waitFor(1, ({ notification }) => notification.state === 'PICKED_UP', 8_000);
    await until('the circuit is closed', async () => !(await isOpen(webhookId)));
    expect(receiver.received[2]!.notification.state).toBe('PICKED_UP');
    await receiver.close();
  },
);

test.concurrent('Retry-After of a probe delays the next probe', async () => {
  const account = await registerAccount(service);
  const receiver = await startReceiver(() => ({ status: 503, headers: { 'retry-after': '3600' } }));
  const { webhookId } = await registerWebhook(account, receiver.url, { interests: ['CREATED'] });
  await forceOpen(webhookId);
  await placeOrder(account);
  await until('the delivery is held', async () => (await countShown(account, webhookId)).HELD === 1);
  await service.sql(`update circuits set open_until = now() where webhook_id = $1`, [webhookId]);
  await until('the circuit stays open for about an hour', async () => {
    const sql = `select 1 from circuits where webhook_id = $1 and open_until > now() + interval '59 minutes'`;
    return (await service.sql(sql, [webhookId])).length > 0;
  });
  expect(receiver.received).toHaveLength(1);
  await receiver.close();
});

test('setting an active webhook to ACTIVE changes nothing; after a pause its circuit is reset, and everything held is sent', async () => {
  const account = await registerAccount(service);
  const receiver = await startReceiver();
  const { webhookId } = await registerWebhook(account, receiver.url, { ordering: 'NONE' });
  const trackingId = await placeOrder(account);
  await receiver.waitFor(1);
  await forceOpen(webhookId);
  await service.sql(
    `with made as (
       insert into events (event_id, shipper_id, shipment_id, sequence, state, recorded_at, body)
       select overlay(gen_random_uuid()::text placing left(uuid_floor(now())::text, 15) from 1 for 15)::uuid,
              shipper_id, shipment_id, 1 + n, 'IN_TRANSIT', now(), '{}'
         from shipments, generate_series(1, 1200) n where tracking_id = $2
       returning *)
     insert into outbox (shipper_id, delivery_id, event_id, webhook_id, shipment_id, sequence, state, status, due_at)
     select shipper_id, delivery_id(event_id, $1), event_id, $1, shipment_id, sequence, state, 'READY', now()
       from made`,
    [webhookId, trackingId],
  );
  const set = (status: string) =>
    account.call(`/v1/webhooks/${webhookId}`, { method: 'PATCH', body: { status } });
  const circuit = () => service.sql('select * from circuits where webhook_id = $1', [webhookId]);
  const before = await circuit();
  expect((await set('ACTIVE')).data).toMatchObject({ status: 'ACTIVE' });
  expect(await circuit()).toEqual(before);
  await set('PAUSED');
  await set('ACTIVE');
  expect(await circuit()).toEqual([]);
  await untilAllAre(service, webhookId, 'SUCCEEDED', 1_201, 40_000);
  expect(receiver.received).toHaveLength(1_201);
  await receiver.close();
});

test('deliveries claimed before the circuit opened are not sent afterwards', async () => {
  const account = await registerAccount(service);
  const receiver = await startReceiver(() => ({ status: 500, delayMs: 200 }));
  const { webhookId } = await registerWebhook(account, receiver.url, { interests: ['CREATED'] });
  await account.call(`/v1/webhooks/${webhookId}`, { method: 'PATCH', body: { status: 'PAUSED' } });
  await placeOrders(account, 240);
  await until('all are held', async () => (await countShown(account, webhookId)).HELD === 240);
  await account.call(`/v1/webhooks/${webhookId}`, { method: 'PATCH', body: { status: 'ACTIVE' } });
  await until('the circuit opens', () => isOpen(webhookId));
  await until('none is under way', async () => !(await countShown(account, webhookId)).SENDING);
  expect(receiver.received.length).toBeLessThan(240);
  const untouched = 'select 1 from outbox where webhook_id = $1 and attempt_count = 0';
  expect(await service.sql(untouched, [webhookId])).toHaveLength(240 - receiver.received.length);
  await receiver.close();
});

test.concurrent('one delivery that always fails does not keep the circuit open', async () => {
  const account = await registerAccount(service);
  let refused = '';
  const receiver = await startReceiver(({ notification }) =>
    notification.tracking_id === refused ? { status: 500 } : {},
  );
  const { webhookId } = await registerWebhook(account, receiver.url, { interests: ['CREATED'] });
  await forceOpen(webhookId);
  refused = await placeOrder(account);
  await placeOrders(account, 3);
  await until('all are held', async () => (await countShown(account, webhookId)).HELD === 4);
  await service.sql('update circuits set open_until = now() where webhook_id = $1', [webhookId]);
  await receiver.waitFor(1);
  await untilOpenedTwice(webhookId);
  expect(receiver.received.map(({ notification }) => notification.tracking_id)).toEqual([refused]);
  await service.sql('update circuits set open_until = now() where webhook_id = $1', [webhookId]);
  await until('the circuit is closed', async () => !(await isOpen(webhookId)));
  await until(
    'the others have succeeded',
    async () => (await countShown(account, webhookId)).SUCCEEDED === 3,
  );
  await receiver.close();
});
