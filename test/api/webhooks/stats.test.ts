import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { placeOrder, registerAccount, type Account } from '../../support/client.js';
import { startService, type Service } from '../../support/harness.js';
import { expectCountsMatchLog } from '../../support/outbox.js';
import {
  deliveriesOf,
  orderDelivered,
  startHook,
  untilFound,
  untilDelivery,
  type Hook,
} from '../../support/deliveries.js';
import { expectFailure, expectSuccess, expectWrong } from '../../support/expect.js';

let service: Service;
let account: Account;
let hook: Hook;

beforeAll(async () => {
  service = await startService({ env: { RETRY_SCHEDULE: '100ms', TIME_SCALE: '0.1' } });
  account = await registerAccount(service);
  hook = await startHook(account);
});
afterAll(async () => {
  await hook?.receiver.close();
  await service?.stop();
});

interface Hour {
  hour: string;
  attempts: number;
  succeeded: number;
  failed: number;
  p50Ms: number | null;
  p95Ms: number | null;
}

const stats = async (query = '', webhookId = hook.webhookId): Promise<Hour[]> => {
  const response = await account.call(`/v1/webhooks/${webhookId}/stats${query}`);
  expectSuccess(response, 200);
  expect(Object.keys(response.data)).toEqual(['hours']);
  return response.data.hours as Hour[];
};
const sum = (hours: Hour[], field: 'attempts' | 'succeeded' | 'failed') =>
  hours.reduce((total, hour) => total + hour[field], 0);
const sums = async () => {
  const hours = await stats();
  return [sum(hours, 'attempts'), sum(hours, 'succeeded'), sum(hours, 'failed')];
};

test('without attempts every hour is present and zero, the oldest first and the current one last', async () => {
  const hours = await stats('?hours=720');
  expect(hours).toHaveLength(720);
  const times = hours.map(({ hour }) => Date.parse(hour));
  for (const [index, time] of times.entries()) expect(time - times[0]!).toBe(index * 3_600_000);
  expect(hours[0]!.hour).toMatch(/:00:00\+00:00$/);
  expect(Date.now() - times.at(-1)!).toBeGreaterThanOrEqual(0);
  expect(Date.now() - times.at(-1)!).toBeLessThan(3_660_000);
  expect(hours.at(-1)).toEqual({
    hour: hours.at(-1)!.hour,
    attempts: 0,
    succeeded: 0,
    failed: 0,
    p50Ms: null,
    p95Ms: null,
  });
  expect(await stats()).toHaveLength(24);
  expect(await stats('?hours=1')).toHaveLength(1);
});

test.each(['0', '721', '-1', '1.5', '', 'abc', '0x10', '24&hours=1'])(
  'hours=%s returns 400',
  async (hours) => {
    expectWrong(await account.call(`/v1/webhooks/${hook.webhookId}/stats?hours=${hours}`), ['hours']);
  },
);

test('an unknown, deleted or malformed webhook id returns 404', async () => {
  const own = await registerAccount(service, 'own@example.com');
  const gone = await startHook(own);
  await gone.close();
  for (const id of [gone.webhookId, own.userId, 'nothing'])
    expectFailure(await own.call(`/v1/webhooks/${id}/stats`), 404);
});

describe('logged attempts are counted at once', () => {
  const redeliver = (deliveryId: string) =>
    account.call(`/v1/deliveries/${deliveryId}/redeliver`, { method: 'POST' });

  test('a success, a failure with its retry, redeliveries and a replay, but no tests', async () => {
    const { response, webhookId } = hook;
    const first = await orderDelivered(account, webhookId);
    await untilDelivery(account, first, ({ status }) => status === 'SUCCEEDED');
    expect(await sums()).toEqual([1, 1, 0]);
    response.status = 500;
    const failed = await orderDelivered(account, webhookId);
    await untilDelivery(account, failed, ({ status }) => status === 'FAILED');
    expect(await sums()).toEqual([3, 1, 2]);
    await redeliver(first);
    await untilDelivery(account, first, ({ attempts }) => attempts.length === 2);
    expect(await sums()).toEqual([4, 1, 3]);
    await account.call(`/v1/webhooks/${webhookId}/test`, { method: 'POST' });
    response.status = 200;
    await account.call(`/v1/webhooks/${webhookId}/test`, { method: 'POST' });
    expect(await sums()).toEqual([4, 1, 3]);
    const range = { from: Date.now() - 60_000, to: Date.now(), status: 'FAILED' };
    await account.call(`/v1/webhooks/${webhookId}/replay`, { body: range });
    await untilDelivery(account, failed, ({ status }) => status === 'SUCCEEDED');
    expect(await sums()).toEqual([5, 2, 3]);
    await untilFound(async () => (await service.sql('select from attempt_counts')).length === 0);
    expect(await sums()).toEqual([5, 2, 3]);
    expect(await expectCountsMatchLog(service)).toBe(5);
    const busy = (await stats()).filter(({ attempts }) => attempts > 0);
    for (const { p50Ms, p95Ms } of busy) expect(p95Ms!).toBeGreaterThanOrEqual(p50Ms!);
  });

  test('a 410 response, and its notice to another webhook', async () => {
    const gone = await startHook(account, { interests: ['CREATED'] });
    const watching = await startHook(account, { interests: ['WEBHOOK_DISABLED'] });
    gone.response.status = 410;
    await placeOrder(account);
    await untilFound(
      async () => (await deliveriesOf(account, watching.webhookId))[0]?.status === 'SUCCEEDED',
    );
    await untilFound(async () => sum(await stats('', gone.webhookId), 'failed') === 1);
    expect(sum(await stats('', watching.webhookId), 'succeeded')).toBe(1);
    await expectCountsMatchLog(service);
    await Promise.all([gone.close(), watching.close()]);
  });
});

describe('lists of webhooks', () => {
  test('include health and stats of each on request', async () => {
    const other = await startHook(account);
    const { data } = await account.call('/v1/webhooks?include=health,stats&limit=250');
    const webhooks = data.webhooks as { webhookId: string; health: object; stats: object }[];
    expect(webhooks.map(({ webhookId }) => webhookId)).toEqual([hook.webhookId, other.webhookId]);
    for (const { webhookId, health, stats: shown } of webhooks) {
      expect(health).toEqual((await account.call(`/v1/webhooks/${webhookId}`)).data.health);
      expect(shown).toEqual({ hours: await stats('', webhookId) });
    }
    await other.receiver.close();
  });

  test.each([
    ['health', ['health']],
    ['stats', ['stats']],
    ['stats,health,stats', ['health', 'stats']],
  ])('with include=%s', async (wanted, names) => {
    const { data } = await account.call(`/v1/webhooks?include=${wanted}`);
    const [webhook] = data.webhooks as object[];
    expect(
      Object.keys(webhook!)
        .filter((name) => name === 'health' || name === 'stats')
        .sort(),
    ).toEqual(names);
  });

  test.each(['', 'healht', 'health,', 'Health', 'health stats', 'secret', 'health&include=stats'])(
    'with include=%s returns 400 and names the valid values',
    async (wanted) => {
      const response = await account.call(`/v1/webhooks?include=${wanted}`);
      expectWrong(response, ['include']);
      if (!wanted.includes('&')) expect(response.body.error.details![0]!.message).toContain('health, stats');
    },
  );

  test('without webhooks it is an empty list too', async () => {
    const nobody = await registerAccount(service, 'nobody@example.com');
    expect((await nobody.call('/v1/webhooks?include=health,stats')).data.webhooks).toEqual([]);
  });
});
