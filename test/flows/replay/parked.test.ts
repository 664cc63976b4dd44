import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { operator, registerAccount, type Account } from '../../support/client.js';
import { deliveriesOf, startHook, untilFound, type Hook } from '../../support/deliveries.js';
import { accountAt } from '../../support/deployment.js';
import { startProcess, startServiceToBreak, type Service } from '../../support/harness.js';
import { placeOrders, trackingIdOf, verifyAll } from '../../support/load.js';
import { replayCalls } from '../../support/replays.js';
import { until } from '../../support/until.js';

const parkedAfter = 20;
let service: Service;
let account: Account;
beforeAll(async () => {
  service = await startServiceToBreak({
    RETRY_SCHEDULE: '500ms,1s',
    DELIVERY_CONCURRENCY: '4',
    TIME_SCALE: '0.25',
    PARKED_AFTER: String(parkedAfter),
  });
});
afterAll(() => service?.stop());
beforeEach(async () => {
  account = await registerAccount(service.process);
});

async function killAndRestart(): Promise<void> {
  service.process.kill('SIGKILL');
  await service.process.exited;
  service.process = await startProcess(service.env);
  account = accountAt(account, service.process);
}

const { lastHour, replay, untilOver, untilWalked, settled } = replayCalls(
  () => service,
  () => account,
);
const never = (webhookId: string, range: object = lastHour()) =>
  replay(webhookId, { ...range, status: 'NEVER_ATTEMPTED' });

const setStatus = ({ webhookId }: Hook, status: string) =>
  account.call(`/v1/webhooks/${webhookId}`, { method: 'PATCH', body: { status } });

async function placeRecorded(count: number): Promise<void> {
  for (const trackingId of await placeOrders(account, count))
    await untilFound(async () => (await account.call(`/v1/shipment-tracking/${trackingId}`)).data.state);
}

test('misses of a paused webhook beyond PARKED_AFTER get no rows, yet arrive in order, even after a kill -9', async () => {
  const hook = await startHook(account, { status: 'PAUSED' });
  hook.response.delayMs = 20;
  const health = async () =>
    (await account.call(`/v1/webhooks/${hook.webhookId}`)).data.health as Record<string, unknown>;
  const rows = async () => {
    const [row] = await service.sql<{ n: number }>(
      'select count(*)::int as n from outbox where webhook_id = $1',
      [hook.webhookId],
    );
    return row!.n;
  };
  const advance = async (trackingIds: string[], state: string) =>
    operator(service.process, '/events', {
      body: { events: trackingIds.map((trackingId) => ({ trackingId, state })) },
    });

  const first = await placeOrders(account, parkedAfter);
  await untilFound(async () => (await health()).parkedSince !== null);
  expect(await health()).toMatchObject({ pendingCount: parkedAfter });
  const second = await placeOrders(account, 60);
  await untilFound(async () => {
    const [row] = await service.sql<{ n: number }>(
      'select count(*)::int as n from events where shipper_id = $1',
      [account.shipperId],
    );
    return row!.n === 80;
  });
  for (const state of ['PICKED_UP', 'IN_TRANSIT']) await advance([...first, ...second], state);
  expect(await rows()).toBe(parkedAfter);
  expect(await health()).toMatchObject({ pendingCount: parkedAfter, parkedSince: expect.any(String) });

  await setStatus(hook, 'ACTIVE');
  await hook.receiver.waitFor(30);
  await setStatus(hook, 'PAUSED');
  await advance(first, 'OUT_FOR_DELIVERY');
  await setStatus(hook, 'ACTIVE');
  await hook.receiver.waitFor(60);
  await killAndRestart();
  await advance(second, 'OUT_FOR_DELIVERY');

  const { received } = hook.receiver;
  const distinct = () => new Set(received.map(({ headers }) => headers['webhook-id'])).size;
  await until('all have arrived', () => distinct() === 4 * 80, 30_000);
  await untilFound(async () => (await rows()) === 0);
  await untilFound(async () => (await health()).parkedSince === null);
  verifyAll(received, hook.secret);
  expect(received.length - distinct()).toBeLessThanOrEqual(2 * 4); // in flight at the kill
  const newest = new Map<string, number>();
  for (const request of received) {
    const sequence = Number(request.headers['parcelhook-sequence']);
    const before = newest.get(trackingIdOf(request)) ?? 0;
    expect([before, before + 1]).toContain(sequence);
    newest.set(trackingIdOf(request), Math.max(before, sequence));
  }
  const finished = await service.sql(
    `select 1 from deliveries where webhook_id = $1 and status = 'SUCCEEDED'`,
    [hook.webhookId],
  );
  expect(finished).toHaveLength(4 * 80);
  await hook.receiver.close();
}, 90_000);

test('a parked webhook gets all of it once: what it held by the replay, the parked events without', async () => {
  await placeRecorded(1);
  const hook = await startHook(account, { status: 'PAUSED' });
  const isParked = async () =>
    (await account.call(`/v1/webhooks/${hook.webhookId}`)).data.health.parkedSince !== null;
  await placeRecorded(parkedAfter);
  await untilFound(isParked);
  const parkedFrom = Date.now();
  await placeRecorded(3);
  const parkedOnly = await never(hook.webhookId, { from: parkedFrom, to: Date.now() + 1_000 });
  expect(parkedOnly.data).toMatchObject({ queued: 0, reason: 'PARKED' });
  const { data } = await never(hook.webhookId);
  expect(data).toMatchObject({ queued: 1 + parkedAfter, reason: null });
  await untilWalked(data.replayId);
  expect(await deliveriesOf(account, hook.webhookId)).toHaveLength(1 + parkedAfter);
  await setStatus(hook, 'ACTIVE');
  expect(await untilOver(data.replayId)).toMatchObject({
    status: 'DONE',
    done: 1 + parkedAfter,
    total: 1 + parkedAfter,
  });
  await untilFound(async () => !(await isParked()));
  await settled(hook.webhookId, 4 + parkedAfter, 'SUCCEEDED');
  expect(new Set(hook.receiver.received.map(({ body }) => body)).size).toBe(4 + parkedAfter);
  expect(hook.receiver.received).toHaveLength(4 + parkedAfter);
  expect((await never(hook.webhookId)).data).toMatchObject({ queued: 0, reason: 'ALL_SUCCEEDED' });
  await hook.close();
});
