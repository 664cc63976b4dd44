import { beforeAll, expect, test } from '@jest/globals';
import { operator, placeOrder, registerAccount, type Account } from '../../support/client.js';
import { startProcess } from '../../support/harness.js';
import {
  deliveriesOf,
  orderDelivered,
  startHook,
  untilFound,
  untilDelivery,
} from '../../support/deliveries.js';
import { replayCalls, type Replay } from '../../support/replays.js';
import { sharedService, type SharedService } from '../../support/shared-service.js';

let service: SharedService;
let account: Account;

beforeAll(async () => {
  service = await sharedService('impatient');
  account = await registerAccount(service);
});

const { lastHour, replay, progressOf, untilOver, untilWalked } = replayCalls(
  () => service,
  () => account,
);

test('a replay survives the kill of its worker, shows its progress, and ends when its owner cancels it', async () => {
  const shipper = await registerAccount(service);
  const hook = await startHook(shipper, { interests: ['*'], ordering: 'NONE' });
  const trackingId = await placeOrder(shipper);
  await hook.receiver.waitFor(1);
  // Events of one shipment that this webhook never got.
  const missed = 1_200;
  await service.sql(
    `insert into events (event_id, shipper_id, shipment_id, sequence, state, recorded_at, body)
     select overlay(overlay(gen_random_uuid()::text placing left(uuid_floor(now() - n * interval '0.5 second')::text, 13) from 1 for 13)
            placing '7' from 15 for 1)::uuid, s.shipper_id, s.shipment_id, 100000 - n, 'IN_TRANSIT', now(), '{}'
       from shipments s, generate_series(10, $2::int + 9) n where s.tracking_id = $1`,
    [trackingId, missed],
  );
  hook.response.delayMs = 250; // slower than the replay
  const second = await startProcess(service.env, 'worker');
  const response = await replay(hook.webhookId, lastHour(), shipper);
  expect(response.data.queued).toBe(missed);
  const { replayId } = response.data;
  const seen: Replay[] = [];
  const look = async () => seen[seen.push(await progressOf(replayId, shipper)) - 1]!;
  await hook.receiver.waitFor(101, () => true, 30_000);
  expect(await look()).toMatchObject({ status: 'RUNNING', total: missed });
  const owed = () =>
    service.sql<{ n: number }>('select count(*)::int as n from outbox where webhook_id = $1', [
      hook.webhookId,
    ]);
  second.kill('SIGKILL');
  await second.exited;
  await untilFound(async () => (await look()).done >= 200);
  for (const [n, { done }] of seen.entries()) expect(done).toBeGreaterThanOrEqual(seen[n - 1]?.done ?? 0);

  const cancel = () => shipper.call(`/v1/replays/${String(replayId)}/cancel`, { method: 'POST' });
  const [cancelled, again] = await Promise.all([cancel(), cancel()]);
  const endedAt = Date.now();
  expect(cancelled).toMatchObject({ httpStatus: 200, data: { status: 'CANCELLED', total: missed } });
  expect(again).toMatchObject({ httpStatus: 200, data: { status: 'CANCELLED' } });
  expect(cancelled.data.done).toBeLessThan(hook.receiver.received.length);
  await untilFound(async () => (await owed())[0]!.n === 0); // including deliveries in flight in the killed worker
  hook.response.delayMs = 0;
  // A delivery to another webhook proves that there was time to send.
  const witness = await startHook(shipper);
  await placeOrder(shipper);
  await witness.receiver.waitFor(1);
  const late = hook.receiver.received.filter(
    ({ at, notification }) => at > endedAt + 500 && notification.state !== 'CREATED',
  );
  expect(late).toEqual([]);
  // Another replay sends the rest; only deliveries in flight in the killed worker are repeated.
  const [{ n: sent }] = (await service.sql<{ n: number }>(
    `select count(*)::int as n from deliveries
      where webhook_id = $1 and status = 'SUCCEEDED' and state = 'IN_TRANSIT'`,
    [hook.webhookId],
  )) as [{ n: number }];
  expect((await progressOf(replayId, shipper)).done).toBe(sent);
  const rest = await replay(hook.webhookId, lastHour(), shipper);
  expect(rest.data.queued).toBe(missed - sent);
  const different = () => new Set(hook.receiver.received.map(({ headers }) => headers['webhook-id'])).size;
  await hook.receiver.waitFor(missed + 2, () => true, 40_000);
  await untilFound(() => Promise.resolve(different() === missed + 2));
  expect(hook.receiver.received.length - missed - 2).toBeLessThanOrEqual(100);
  expect(await untilOver(rest.data.replayId, shipper)).toMatchObject({
    status: 'DONE',
    done: missed - sent,
    total: missed - sent,
  });
  const list = (query: string) =>
    shipper.call(`/v1/webhooks/${hook.webhookId}/replays${query}`).then(({ data }) => data);
  const ids = (data: Record<string, any>) => (data.replays as Replay[]).map((one) => one.replayId);
  const first = await list('?limit=1');
  expect(ids(first)).toEqual([rest.data.replayId]);
  expect(ids(await list(`?limit=1&cursor=${String(first.nextCursor)}`))).toEqual([replayId]);
  expect(await list('')).toMatchObject({
    nextCursor: null,
    replays: [{ status: 'DONE' }, { ...cancelled.data, done: sent }],
  });
  await Promise.all([hook.close(), witness.close()]);
}, 90_000);

test.concurrent(
  'a cancel of an ended replay changes nothing; the audit log names who cancelled one',
  async () => {
    const shipper = await registerAccount(service);
    const hook = await startHook(shipper, { status: 'PAUSED' });
    await orderDelivered(shipper, hook.webhookId);
    const done = (await replay(hook.webhookId, { ...lastHour(), status: 'FAILED' }, shipper)).data
      .replayId as string;
    await untilOver(done, shipper);
    const cancel = (id: string, as = shipper) => as.call(`/v1/replays/${id}/cancel`, { method: 'POST' });
    expect((await cancel(done)).data).toMatchObject({ status: 'DONE', done: 0, total: 0 });
    const held = (await replay(hook.webhookId, lastHour(), shipper)).data.replayId as string;
    await untilWalked(held);
    const other = await registerAccount(service);
    expect((await cancel(held, other)).httpStatus).toBe(404);
    expect((await progressOf(held, shipper)).status).toBe('RUNNING');
    expect((await cancel(held)).data).toMatchObject({ status: 'CANCELLED', done: 0, total: 1 });
    const byOperator = await operator(service, `/replays/${held}/cancel`, { method: 'POST' });
    expect(byOperator).toMatchObject({ httpStatus: 200, data: { status: 'CANCELLED' } });
    const { data } = await operator(service, `/audit?shipperId=${shipper.shipperId}&limit=5`);
    const lines = (data.entries as { action: string; webhookId: string }[]).filter(
      ({ action }) => action === 'REPLAY_CANCELLED',
    );
    expect(lines).toMatchObject([
      { webhookId: hook.webhookId, actor: { kind: 'USER', name: shipper.userId } },
    ]);
    // Deliveries held before are still held, and sent.
    await shipper.call(`/v1/webhooks/${hook.webhookId}`, { method: 'PATCH', body: { status: 'ACTIVE' } });
    const [delivery] = await deliveriesOf(shipper, hook.webhookId);
    const { attempts } = await untilDelivery(
      shipper,
      delivery!.deliveryId,
      ({ status }) => status === 'SUCCEEDED',
    );
    expect(attempts).toMatchObject([{ trigger: 'SCHEDULED' }]);
    await hook.close();
  },
);

test.concurrent('a replay with nothing to send states the reason', async () => {
  const shipper = await registerAccount(service);
  const hook = await startHook(shipper, { interests: ['CREATED'] });
  const why = async (body: object = lastHour(), webhookId = hook.webhookId) =>
    (await replay(webhookId, body, shipper)).data;
  expect(await why()).toMatchObject({ queued: 0, reason: 'NOTHING_RECORDED' });
  const trackingId = await placeOrder(shipper);
  await untilFound(async () => {
    const [delivery] = await deliveriesOf(shipper, hook.webhookId);
    return delivery?.status === 'SUCCEEDED';
  });
  expect(await why()).toMatchObject({ queued: 0, reason: 'ALL_SUCCEEDED' });
  expect(await why({ ...lastHour(), trackingId })).toMatchObject({ queued: 0, reason: 'ALL_SUCCEEDED' });
  const picky = await startHook(shipper, { interests: ['LOST'] });
  expect(await why(lastHour(), picky.webhookId)).toMatchObject({ queued: 0, reason: 'NO_INTEREST' });
  const past = Date.now() - 60 * 86_400_000;
  expect(await why({ from: past, to: past + 1 })).toMatchObject({ queued: 0, reason: 'EXPIRED' });
  const late = await startHook(shipper);
  for (const status of ['HELD', 'FAILED', 'PENDING']) {
    const ofStatus = { ...lastHour(), status };
    expect(await why(ofStatus, late.webhookId)).toMatchObject({ queued: 0, reason: 'OTHER_STATUS' });
    expect(await why(ofStatus)).toMatchObject({ queued: 0, reason: 'ALL_SUCCEEDED' });
  }
  await operator(service, `/shipments/${trackingId}/erase`, { method: 'POST' });
  expect(await why(lastHour(), late.webhookId)).toMatchObject({ queued: 0, reason: 'ERASED' });
  expect(await why()).toMatchObject({ queued: 0, reason: 'ALL_SUCCEEDED' });
  await Promise.all([hook.close(), picky.close(), late.close()]);
});
