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
  for (const table of ['attempts', 'deliveries'])
    await service.sql(`update ${table} set started_at = now() - interval '61 minutes'`);
  expect(await health(hook.webhookId)).toMatchObject({ failureRate: null, pendingCount: 2 });
  await hook.close();
});

test('lists of webhooks stay without it', async () => {
  const hook = await startHook(account);
  const { data } = await account.call('/v1/webhooks');
  expect((data.webhooks as object[])[0]).not.toHaveProperty('health');
  await hook.close();
});
