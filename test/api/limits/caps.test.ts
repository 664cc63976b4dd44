/** Caps on what a client makes the service do: run on both queues, for processes with Redis share some. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { basic, registerAccount, registerWebhook, request, type Account } from '../../support/client.js';
import { orderDelivered, startHook, untilDelivery } from '../../support/deliveries.js';
import { accountAt } from '../../support/deployment.js';
import {
  queue,
  startProcess,
  startServiceWith,
  stopProcess,
  type RunningProcess,
  type Service,
} from '../../support/harness.js';
import { sharedService } from '../../support/shared-service.js';
import { startReceiver } from '../../support/receiver.js';
import { expectFailure, expectSuccess } from '../../support/expect.js';
import { expectLimited, limited } from './limited.js';

const hour = { from: new Date(Date.now() - 3_600_000).toISOString(), to: new Date().toISOString() };

const test1 = (account: Account, webhookId: string) =>
  account.call(`/v1/webhooks/${webhookId}/test`, { body: {} });
const replay = (account: Account, webhookId: string) =>
  account.call(`/v1/webhooks/${webhookId}/replay`, { body: hour });
const redeliver = (account: Account, deliveryId: string) =>
  account.call(`/v1/deliveries/${deliveryId}/redeliver`, { method: 'POST' });
const create = (account: Account, targetAddress: string) =>
  account.call('/v1/webhooks', { body: { interests: ['*'], targetAddress } });

test('a delivery accepts a hundred redeliveries in any 24 hours, counted from the log', async () => {
  const shared = await sharedService();
  const account = await registerAccount(shared);
  const hook = await startHook(account);
  const deliveryId = await orderDelivered(account, hook.webhookId);
  await untilDelivery(account, deliveryId, ({ status }) => status === 'SUCCEEDED');
  // 99 by hand, the first of them just under a day ago, and others older than that.
  await shared.sql(
    `with old as (select * from deliveries where delivery_id = $1)
     insert into attempts (shipper_id, delivery_id, number, trigger, started_at, duration_ms, status_code)
     select shipper_id, delivery_id, n, 'MANUAL',
            now() - make_interval(hours => case when n <= 30 then 25 else 23 end), 1, 200
       from old, generate_series(1, 129) n`,
    [deliveryId],
  );
  await shared.sql(`update deliveries set attempt_count = 130 where delivery_id = $1`, [deliveryId]);
  expectSuccess(await redeliver(account, deliveryId), 202);
  await untilDelivery(account, deliveryId, ({ attemptCount }) => attemptCount === 131);
  const refused = await redeliver(account, deliveryId);
  expectLimited(refused, 3_600);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3_000);
  expect(refused.body.error.message).toContain('at most 100 times a day');
  await hook.close();
});

describe('caps', () => {
  let service: Service;
  let second: RunningProcess;
  beforeAll(async () => {
    service = await startServiceWith({
      BY_HAND_LIMIT: '3',
      WEBHOOK_CREATION_LIMIT: '4',
      WEBHOOKS_PER_SHIPPER: '3',
      TRUST_PROXY: 'loopback',
      LOGIN_LIMIT_IP: '2',
    });
    second = await startProcess(service.env, 'api');
  });
  afterAll(async () => {
    if (second) await stopProcess(second);
    await service?.stop();
  });

  test('deliveries sent by hand are capped by webhook, by shipper, and by destination across shippers; a refused one counts nowhere else', async () => {
    const receiver = await startReceiver();
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
    await receiver.close();
  });

  test('created webhooks are capped by shipper and by destination; with Redis all processes share the count', async () => {
    const before = await limited('webhook_creation', service);
    const accounts: Account[] = [];
    for (let n = 0; n < 4; n += 1) accounts.push(await registerAccount(service));
    const target = (n: number) => `https://many.example.org:844${n % 2 ? '3' : '4'}/${n}`;
    for (let n = 0; n < 4; n += 1) {
      const created = await create(accounts[0]!, target(n));
      if (n === 3) expectFailure(created, 409);
      else expectSuccess(created, 201);
    }
    expectLimited(await create(accounts[0]!, target(5)));
    expectFailure(await create(accounts[0]!, 'nothing'), 400);
    if (queue === 'redis') expectLimited(await create(accountAt(accounts[0]!, second), target(5)));
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
      expectSuccess(await create(accounts.at(-1)!, `http://${n % 2 ? '127.0.0.1' : '[::1]'}:9/${n}`), 201);
    }
    expect(await limited('webhook_creation', service)).toBe(before + 2);
  });

  test('a webhook moved to another host counts as a created one, by shipper and by destination; other changes count nowhere', async () => {
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
    const [limitedOne, ...passed] = (await moved(one, elsewhere)).reverse();
    for (const response of passed) expectSuccess(response, 200);
    expectLimited(limitedOne!);
    expect(limitedOne!.body.error.message).toContain('moved to another host');
    expectLimited(await create(one, `https://${shop}/`));
    // Twelve for a destination: one is used up.
    for (let left = 11; left > 0; left -= 2) {
      const account = await registerAccount(service);
      const hosts = Array.from({ length: Math.min(left, 2) }, () => [shop, '[::1]:9']).flat();
      for (const response of await moved(account, hosts.slice(0, 3))) expectSuccess(response, 200);
    }
    const [refused] = await moved(await registerAccount(service), [shop]);
    expectLimited(refused!);
    expect(refused!.body.error.message).toContain('this destination');
    expectFailure(await move(one, '0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b', 'https://a.example.org/'), 404);
  });

  test('a webhook declared by name counts as a created one or a changed one, and as neither if nothing changes', async () => {
    const one = await registerAccount(service);
    const declare = (name: string, fields: object = {}) =>
      one.call(`/v1/webhooks/by-name/${name}`, {
        method: 'PUT',
        body: { interests: ['*'], targetAddress: `https://named.example.org/${name}`, ...fields },
      });
    for (const name of ['a', 'b', 'c']) expectSuccess(await declare(name), 201);
    const full = await declare('d');
    expectFailure(full, 409);
    expect(full.body.error.message).toContain('at most 3 webhooks');
    expectLimited(await declare('d')); // the fifth creation
    for (let n = 0; n < 65; n += 1) expectSuccess(await declare('a'), 200);
    expectLimited(await declare('b', { targetAddress: 'https://renamed.example.org/' }));
    for (let n = 0; n < 60; n += 1) expectSuccess(await declare('a', { description: `${n}` }), 200);
    expectLimited(await declare('a', { description: 'one more' }));
    expectSuccess(await declare('a', { description: '59' }), 200);
  });

  test('X-Forwarded-For tells the address where a trusted proxy sends it; addresses of IPv6 count by their network', async () => {
    const failing = (ip: string) =>
      request(`${service.url}/v1/login?key=ak_unknown`, {
        headers: { authorization: basic('nobody@example.com', 'wrong'), 'x-forwarded-for': ip },
      });
    for (const ip of ['203.0.113.1', '203.0.113.1', '203.0.113.2']) expectFailure(await failing(ip), 401);
    expectLimited(await failing('203.0.113.1'));
    for (const ip of ['2001:db8:0:1::1', '2001:db8:0:1::2']) expectFailure(await failing(ip), 401);
    expectLimited(await failing('2001:db8:0:1:ffff::3'));
    expectFailure(await failing('2001:db8:0:2::1'), 401);
  });
});
