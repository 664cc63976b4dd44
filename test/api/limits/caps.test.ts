import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { registerAccount, registerWebhook, type Account, type ApiResponse } from '../../support/client.js';
import { orderDelivered, startHook, untilDelivery, type Hook } from '../../support/deliveries.js';
import { accountAt } from '../../support/deployment.js';
import { backends, startProcess, startService, stopProcess, type Service } from '../../support/harness.js';
import { startReceiver } from '../../support/receiver.js';
import { expectFailure, expectSuccess } from '../../support/expect.js';

const hour = { from: new Date(Date.now() - 3_600_000).toISOString(), to: new Date().toISOString() };

const test1 = (account: Account, webhookId: string) =>
  account.call(`/v1/webhooks/${webhookId}/test`, { body: {} });
const replay = (account: Account, webhookId: string) =>
  account.call(`/v1/webhooks/${webhookId}/replay`, { body: hour });
const redeliver = (account: Account, deliveryId: string) =>
  account.call(`/v1/deliveries/${deliveryId}/redeliver`, { method: 'POST' });
const create = (account: Account, targetAddress: string) =>
  account.call('/v1/webhooks', { body: { interests: ['*'], targetAddress } });

function expectLimited(response: ApiResponse, withinSeconds = 3_600): void {
  expectFailure(response, 429);
  const seconds = Number(response.headers.get('retry-after'));
  expect(seconds).toBeGreaterThanOrEqual(1);
  expect(seconds).toBeLessThanOrEqual(withinSeconds);
}

describe('a delivery', () => {
  let service: Service;
  let account: Account;
  let hook: Hook;
  beforeAll(async () => {
    service = await startService();
    account = await registerAccount(service);
    hook = await startHook(account);
  });
  afterAll(async () => {
    await hook?.receiver.close();
    await service?.stop();
  });

  test('accepts a hundred redeliveries in any 24 hours, counted from the log', async () => {
    const deliveryId = await orderDelivered(account, hook.webhookId);
    await untilDelivery(account, deliveryId, ({ status }) => status === 'SUCCEEDED');
    // 99 by hand, the first of them just under a day ago, and others older than that.
    await service.sql(
      `with old as (select * from deliveries where delivery_id = $1)
       insert into attempts (shipper_id, delivery_id, number, trigger, started_at, duration_ms, status_code)
       select shipper_id, delivery_id, n, 'MANUAL',
              now() - make_interval(hours => case when n <= 30 then 25 else 23 end), 1, 200
         from old, generate_series(1, 129) n`,
      [deliveryId],
    );
    await service.sql(`update deliveries set attempt_count = 130 where delivery_id = $1`, [deliveryId]);
    expectSuccess(await redeliver(account, deliveryId), 202);
    await untilDelivery(account, deliveryId, ({ attemptCount }) => attemptCount === 131);
    const refused = await redeliver(account, deliveryId);
    expectLimited(refused, 3_600);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3_000);
    expect(refused.body.error.message).toContain('at most 100 times a day');
  });

  test('with 20,000 attempts is read a page at a time, newest first, without gaps; a cursor of another one is refused', async () => {
    const deliveryId = await orderDelivered(account, hook.webhookId);
    await untilDelivery(account, deliveryId, ({ status }) => status === 'SUCCEEDED');
    await service.sql(
      `insert into attempts (shipper_id, delivery_id, number, trigger, started_at, duration_ms, status_code,
                             error_code, response_body)
       select shipper_id, delivery_id, n, 'REPLAY', now() - interval '2 days', 7, 500, 'HTTP_STATUS', repeat('x', 4096)
         from deliveries, generate_series(1, 20000) n where delivery_id = $1`,
      [deliveryId],
    );
    await service.sql(`update deliveries set attempt_count = 20001 where delivery_id = $1`, [deliveryId]);
    const read = async (cursor: string | null) => {
      const query = cursor === null ? '' : `?attemptsCursor=${cursor}`;
      const response = await account.call(`/v1/deliveries/${deliveryId}${query}`);
      expectSuccess(response, 200);
      const { attempts, nextAttemptsCursor, attemptCount, lastAttempt } = response.data as any;
      expect({ attemptCount, statusCode: lastAttempt.statusCode }).toEqual({
        attemptCount: 20_001,
        statusCode: 200,
      });
      return {
        numbers: attempts.map(({ number }: any) => number),
        next: nextAttemptsCursor as string | null,
      };
    };
    const startedAt = performance.now();
    const first = await read(null);
    const durationMs = performance.now() - startedAt;
    expect(first.numbers).toEqual(Array.from({ length: 100 }, (_, n) => 20_001 - n));
    const second = await read(first.next);
    expect(second.numbers[0]).toBe(19_901);
    await service.sql('delete from attempts where delivery_id = $1 and number between 151 and 19801', [
      deliveryId,
    ]);
    const last = await read(second.next);
    const end = await read(last.next);
    expect([...last.numbers, ...end.numbers]).toEqual(Array.from({ length: 150 }, (_, n) => 150 - n));
    expect([last.numbers.length, end.next]).toEqual([100, null]);
    console.info(`a page of 20,001 attempts: ${durationMs.toFixed(0)} ms`);
    expect(durationMs).toBeLessThan(2_000); // together they are 80 MB
    const other = await orderDelivered(account, hook.webhookId);
    for (const [id, cursor] of [
      [deliveryId, 'x'],
      [other, first.next],
    ]) {
      const wrong = await account.call(`/v1/deliveries/${id}?attemptsCursor=${cursor}`);
      expectFailure(wrong, 400);
      expect(wrong.body.error.details).toMatchObject([{ path: 'attemptsCursor' }]);
    }
    const bytes = Buffer.from(first.next!, 'base64url').fill(0xff, 0, 16); // every number that fits in a cursor
    expectSuccess(
      await account.call(`/v1/deliveries/${deliveryId}?attemptsCursor=${bytes.toString('base64url')}`),
      200,
    );
  }, 60_000);
});

test.concurrent(
  'deliveries sent by hand are capped by webhook, by shipper, and by destination across shippers; a refused one counts nowhere else',
  async () => {
    const service = await startService({ env: { BY_HAND_LIMIT: '3' } });
    const receiver = await startReceiver();
    try {
      const accounts: Account[] = [];
      for (let n = 0; n < 5; n += 1) accounts.push(await registerAccount(service));
      const [one] = accounts;
      const hooks: string[] = [];
      for (let n = 0; n < 3; n += 1) hooks.push((await registerWebhook(one!, receiver.url)).webhookId);
      expectSuccess(await test1(one!, hooks[0]!), 200);
      expectSuccess(await replay(one!, hooks[0]!), 202);
      expectSuccess(await test1(one!, hooks[0]!), 200);
      for (let n = 0; n < 30; n += 1) expectLimited(await test1(one!, hooks[0]!));
      expectLimited(await replay(one!, hooks[0]!));
      for (let n = 0; n < 3; n += 1) expectSuccess(await test1(one!, hooks[1]!), 200);
      expectLimited(await test1(one!, hooks[2]!)); // the sixth of the shipper
      // Eighteen per destination, whatever the path: six are used up.
      const passed = [];
      for (const account of accounts.slice(1)) {
        const own = [
          await registerWebhook(account, receiver.url),
          await registerWebhook(account, `${receiver.url}/2`),
        ];
        for (const { webhookId } of [...own, ...own, ...own]) passed.push(await test1(account, webhookId));
      }
      expect(passed.map(({ httpStatus }) => httpStatus)).toEqual([
        ...Array(12).fill(200),
        ...Array(12).fill(429),
      ]);
      expect(receiver.received).toHaveLength(17);
      // At another destination the last shipper still has its full share.
      const elsewhere = await registerWebhook(accounts[4]!, receiver.url.replace('127.0.0.1', 'localhost'));
      expectLimited(await test1(accounts[4]!, elsewhere.webhookId)); // except its earlier attempts
      expectFailure(await test1(one!, '0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b'), 404);
    } finally {
      await receiver.close();
      await service.stop();
    }
  },
);

test.concurrent.each(backends)(
  'created webhooks, counted beside the queue on %s, are capped by shipper and by destination; with Redis all processes share the count',
  async (backend) => {
    const env = { WEBHOOK_CREATION_LIMIT: '4', WEBHOOKS_PER_SHIPPER: '3' };
    const service = await startService({ backend, role: 'api', env });
    const second = await startProcess(service.env, 'api');
    try {
      const accounts: Account[] = [];
      for (let n = 0; n < 4; n += 1) accounts.push(await registerAccount(service));
      const target = (n: number) => `https://shop.example.org:844${n % 2 ? '3' : '4'}/${n}`;
      for (let n = 0; n < 4; n += 1) {
        const created = await create(accounts[0]!, target(n));
        if (n === 3) expectFailure(created, 409);
        else expectSuccess(created, 201);
      }
      expectLimited(await create(accounts[0]!, target(5)));
      expectFailure(await create(accounts[0]!, 'nothing'), 400);
      if (backend === 'redis') expectLimited(await create(accountAt(accounts[0]!, second), target(5)));
      // Twelve per destination: four are used up.
      for (const account of accounts.slice(1, 3)) {
        for (let n = 0; n < 3; n += 1) expectSuccess(await create(account, target(n)), 201);
        expectFailure(await create(account, target(3)), 409);
      }
      expectLimited(await create(accounts[3]!, target(0)));
      expectSuccess(await create(accounts[3]!, 'https://other.example.org/'), 201);
      // This machine is no one else's.
      for (let n = 0; n < 15; n += 1) {
        if (n % 3 === 0) accounts.push(await registerAccount(service));
        expectSuccess(await create(accounts.at(-1)!, `http://${n % 2 ? '127.0.0.1' : '[::1]'}:9/`), 201);
      }
      const text = await (await fetch(`${service.url}/metrics`)).text();
      expect(text).toMatch(/^parcelhook_rate_limited_total\{limit="webhook_creation"\} 2$/m);
    } finally {
      await stopProcess(second);
      await service.stop();
    }
  },
);

test.concurrent(
  'a webhook moved to another host counts as a created one, by shipper and by destination; other changes count nowhere',
  async () => {
    const service = await startService({ role: 'api', env: { WEBHOOK_CREATION_LIMIT: '4' } });
    try {
      const one = await registerAccount(service);
      const move = (account: Account, webhookId: unknown, targetAddress: string) =>
        account.call(`/v1/webhooks/${String(webhookId)}`, { method: 'PATCH', body: { targetAddress } });
      const moved = async (account: Account, hosts: string[]) => {
        const { webhookId } = (await create(account, 'https://own.example.org/')).data;
        for (let n = 0; n < 10; n += 1)
          expectSuccess(await move(account, webhookId, `https://own.example.org:8443/${n}`), 200);
        const responses = [];
        for (const host of hosts) responses.push(await move(account, webhookId, `https://${host}/`));
        return responses;
      };
      const shop = 'shop.example.org';
      const elsewhere = ['a.example.org', shop, 'b.example.org', shop];
      const [limited, ...passed] = (await moved(one, elsewhere)).reverse();
      for (const response of passed) expectSuccess(response, 200);
      expectLimited(limited!);
      expect(limited!.body.error.message).toContain('moved to another host');
      expectLimited(await create(one, `https://${shop}/`));
      // Twelve for a destination: one is used up.
      for (let left = 11; left > 0;) {
        const account = await registerAccount(service);
        const hosts = Array.from({ length: Math.min(left, 2) }, () => shop).flatMap((host) => [
          host,
          '[::1]:9',
        ]);
        left -= 2;
        for (const response of await moved(account, hosts.slice(0, 3))) expectSuccess(response, 200);
      }
      const [refused] = await moved(await registerAccount(service), [shop]);
      expectLimited(refused!);
      expect(refused!.body.error.message).toContain('this destination');
      expectFailure(await move(one, '0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b', 'https://a.example.org/'), 404);
    } finally {
      await service.stop();
    }
  },
);
