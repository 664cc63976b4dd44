import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { registerAccount, type Account } from '../client.js';
import { startService, type Service } from '../harness.js';
import { orderDelivered, startHook } from '../flows/support/log.js';

let service: Service;
let account: Account;

beforeAll(async () => {
  service = await startService({ env: { RETRY_SCHEDULE: '1h' } });
  account = await registerAccount(service);
});
afterAll(() => service?.stop());

const health = async (webhookId: string) =>
  (await account.call(`/v1/webhooks/${webhookId}`)).data.health as Record<string, unknown>;

test('the health of a webhook tells its last success, its failures and what waits', async () => {
  const hook = await startHook(account);
  const nothing = {
    circuit: 'CLOSED',
    nextProbeAt: null,
    lastSuccessAt: null,
    failureRate: null,
    pendingCount: 0,
  };
  expect(await health(hook.webhookId)).toEqual(nothing);
  await orderDelivered(account, hook.webhookId);
  const good = await health(hook.webhookId);
  expect(good).toMatchObject({ circuit: 'CLOSED', failureRate: 0, pendingCount: 0 });
  expect(Math.abs(Date.now() - Date.parse(good.lastSuccessAt as string))).toBeLessThan(10_000);
  hook.answer.status = 500;
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

test('the failure rate is the exact share of the current hour and the one before it, in a list as well', async () => {
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

test('lists of webhooks stay without it', async () => {
  const hook = await startHook(account);
  const { data } = await account.call('/v1/webhooks');
  expect((data.webhooks as object[])[0]).not.toHaveProperty('health');
  await hook.close();
});
