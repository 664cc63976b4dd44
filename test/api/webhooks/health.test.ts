import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { registerAccount, type Account } from '../../support/client.js';
import { startService, type Service } from '../../support/harness.js';
import { orderDelivered, startHook, untilDelivery } from '../../support/deliveries.js';

let service: Service;
let account: Account;

beforeAll(async () => {
  service = await startService({ env: { RETRY_SCHEDULE: '1h' } });
  account = await registerAccount(service);
});
afterAll(() => service?.stop());

const health = async (webhookId: string) =>
  (await account.call(`/v1/webhooks/${webhookId}`)).data.health as Record<string, unknown>;

test('the health of a webhook shows its last success, its failures and its backlog', async () => {
  const hook = await startHook(account);
  const nothing = {
    circuit: 'CLOSED',
    nextProbeAt: null,
    lastSuccessAt: null,
    failureRate: null,
    pendingCount: 0,
    parkedSince: null,
  };
  expect(await health(hook.webhookId)).toEqual(nothing);
  await orderDelivered(account, hook.webhookId);
  const good = await health(hook.webhookId);
  expect(good).toMatchObject({ circuit: 'CLOSED', failureRate: 0, pendingCount: 0 });
  expect(Math.abs(Date.now() - Date.parse(good.lastSuccessAt as string))).toBeLessThan(10_000);
  hook.response.status = 500;
  await orderDelivered(account, hook.webhookId);
  expect(await health(hook.webhookId)).toEqual({ ...good, failureRate: 0.5, pendingCount: 1 });
  await account.call(`/v1/webhooks/${hook.webhookId}`, { method: 'PATCH', body: { status: 'PAUSED' } });
  await orderDelivered(account, hook.webhookId);
  expect(await health(hook.webhookId)).toMatchObject({ failureRate: 0.5, pendingCount: 2 });
  const earlier = (table: string) => `update ${table} set hour = hour - interval '2 hours'`;
  await service.sql(`with counts as (${earlier('attempt_counts')}) ${earlier('webhook_hours')}`);
  expect(await health(hook.webhookId)).toMatchObject({ failureRate: null, pendingCount: 2 });
  await hook.close();
});

test('the failure rate is exact over the current and the previous hour, in lists too', async () => {
  const hook = await startHook(account);
  for (const [hoursAgo, succeeded, failed] of [
    [0, 1_200, 60],
    [1, 800, 40],
    [2, 0, 5_000],
  ]) {
    const hour = `date_bin('1 hour', now(), timestamptz 'epoch') - make_interval(hours => $2::int)`;
    await service.sql(
      `insert into webhook_hours (webhook_id, hour, succeeded, failed, durations_ms, duration_counts)
       values ($1, ${hour}, $3::int - 10, $4, '{}', '{}')`,
      [hook.webhookId, hoursAgo, succeeded, failed],
    );
    await service.sql(
      `insert into attempt_counts (webhook_id, hour, succeeded, failed) values ($1, ${hour}, 10, 0)`,
      [hook.webhookId, hoursAgo],
    );
  }
  const { failureRate } = await health(hook.webhookId);
  expect(failureRate).toBeCloseTo(100 / 2_100, 10);
  const { data } = await account.call('/v1/webhooks?include=health');
  const listed = data.webhooks as { webhookId: string; health: { failureRate: number } }[];
  expect(listed.find(({ webhookId }) => webhookId === hook.webhookId)!.health.failureRate).toBe(failureRate);
  await hook.close();
});

describe('the last success of an idle webhook', () => {
  const hourOf = `date_bin('1 hour', now() - interval '10 days', timestamptz 'epoch')`;
  const succeededInHour = (webhookId: string) =>
    service.sql<{ hour: Date }>(
      `insert into webhook_hours (webhook_id, hour, succeeded, failed, durations_ms, duration_counts)
       values ($1, ${hourOf}, 1, 0, '{}', '{}'), ($1, now() - interval '2 days', 0, 1, '{}', '{}')
       returning hour`,
      [webhookId],
    );

  test('comes from the log', async () => {
    const hook = await startHook(account);
    const [row] = await succeededInHour(hook.webhookId);
    await service.sql(`select make_log_partitions(current_date - 12, current_date)`);
    for (const minutes of [5, 20, 10])
      await service.sql(
        `insert into deliveries (shipper_id, delivery_id, event_id, webhook_id, state, status, attempt_count,
                                 completed_at)
         select $1, delivery_id(event_id, $2), event_id, $2, 'S' || $3, 'SUCCEEDED', 1,
                ${hourOf} + make_interval(mins => $3::int)
           from (select uuid_floor(${hourOf} - make_interval(mins => $3::int)) as event_id) e`,
        [account.shipperId, hook.webhookId, minutes],
      );
    const { lastSuccessAt } = await health(hook.webhookId);
    expect(Date.parse(lastSuccessAt as string) - row!.hour.getTime()).toBe(20 * 60_000);
    const { data } = await account.call('/v1/webhooks?include=health');
    const listed = data.webhooks as { webhookId: string; health: object }[];
    expect(listed.find(({ webhookId }) => webhookId === hook.webhookId)!.health).toMatchObject({
      lastSuccessAt,
    });
    await hook.close();
  });

  test('is the start of its hour once the log is gone', async () => {
    const hook = await startHook(account);
    const [row] = await succeededInHour(hook.webhookId);
    const { lastSuccessAt } = await health(hook.webhookId);
    expect(Date.parse(lastSuccessAt as string)).toBe(row!.hour.getTime());
    await hook.close();
  });
});

test('a redelivery of a succeeded delivery is a success, too', async () => {
  const hook = await startHook(account);
  const deliveryId = await orderDelivered(account, hook.webhookId);
  const before = (await health(hook.webhookId)).lastSuccessAt as string;
  await account.call(`/v1/deliveries/${deliveryId}/redeliver`, { method: 'POST' });
  await untilDelivery(account, deliveryId, ({ attempts }) => attempts.length === 2);
  expect(Date.parse((await health(hook.webhookId)).lastSuccessAt as string)).toBeGreaterThan(
    Date.parse(before),
  );
  await hook.close();
});

test('is missing in lists of webhooks', async () => {
  const hook = await startHook(account);
  const { data } = await account.call('/v1/webhooks');
  expect((data.webhooks as object[])[0]).not.toHaveProperty('health');
  await hook.close();
});
