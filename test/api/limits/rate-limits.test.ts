/** The limits of requests, which processes with Redis share: run on both queues. */
import { afterAll, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { basic, newProgram, operator, registerAccount, request, type Account } from '../../support/client.js';
import { accountAt } from '../../support/deployment.js';
import { queue, startProcess, startServiceWith, stopProcess } from '../../support/harness.js';
import { expectFailure, expectSuccess } from '../../support/expect.js';
import { expectLimited, inSequences, limited, tally } from './limited.js';

// Ten seconds last six.
const env = { API_RATE_LIMIT: '5', TIME_SCALE: '0.6', LOGIN_LIMIT_ACCOUNT: '4', LOGIN_LIMIT_IP: '2' };
const service = await startServiceWith(env, 'api');
const second = await startProcess(service.env, 'api');
const account = await registerAccount(service);
const other = await registerAccount(service, 'b@example.com');
const shared = await registerAccount(service, 'c@example.com');
const slow = await registerAccount(service, 'd@example.com');
const owner = await registerAccount(service, 'e@example.com');
afterAll(async () => {
  if (second) await stopProcess(second);
  await service.stop();
});

const login = (
  { url }: { url: string },
  { accountKey, email }: Pick<Account, 'accountKey' | 'email'>,
  ip: string,
) =>
  request(`${url}/v1/login?key=${accountKey}`, {
    headers: { authorization: basic(email, 'wrong horse battery'), 'x-forwarded-for': ip },
  });

test('a shipper may spend ten seconds of API_RATE_LIMIT at once and then waits for Retry-After; others do not', async () => {
  const beganAt = Date.now();
  const responses = await inSequences(2, 60, () => account.call('/v1/webhooks'));
  const windows = Math.ceil((Date.now() - beganAt) / 6_000); // one, but on a very busy machine
  const passed = tally(responses)[200]!;
  expect(passed).toBeGreaterThanOrEqual(50);
  expect(passed).toBeLessThanOrEqual((queue === 'redis' ? 58 : 50) * windows); // Redis learns of local grants later
  const refused = responses.findLast(({ httpStatus }) => httpStatus === 429)!;
  expectLimited(refused, 6);
  expect(await limited('api', service)).toBe(60 - passed);
  expectSuccess(await other.call('/v1/webhooks'), 200);
  expectSuccess(await operator(service, '/status'), 200);
  await sleep(Number(refused.headers.get('retry-after')) * 1_000);
  expectSuccess(await account.call('/v1/webhooks'), 200);
});

test('X-Forwarded-For changes no limit while no proxy is trusted', async () => {
  const nobody = { accountKey: 'ak_unknown', email: 'nobody@example.com' };
  expectFailure(await login(service, nobody, '203.0.113.1'), 401);
  expectFailure(await login(service, nobody, '203.0.113.2'), 401);
  expectLimited(await login(service, nobody, '203.0.113.3'));
});

test('processes with Redis share the limits, and its keys show neither e-mail, account key nor address; others count alone', async () => {
  const both = [service, second];
  const [here, there] = both.map((one) => accountAt(shared, one));
  let httpStatus = 200;
  while (httpStatus === 200) ({ httpStatus } = await here!.call('/v1/webhooks'));
  expect(httpStatus).toBe(429);
  const elsewhere = tally(await inSequences(1, 10, () => there!.call('/v1/webhooks')));
  if (queue === 'redis') expect(elsewhere[429]).toBeGreaterThan(0);
  else expect(elsewhere).toEqual({ 200: 10 });
  // One login was right, at the first.
  for (const one of [service, second, service]) expectFailure(await login(one, shared, '127.0.0.1'), 401);
  if (queue === 'postgres') {
    expectFailure(await login(service, shared, '127.0.0.1'), 401);
    expectLimited(await login(service, shared, '127.0.0.1'));
    expectFailure(await login(second, shared, '127.0.0.1'), 401);
    return;
  }
  for (const one of both) expectLimited(await login(one, shared, '127.0.0.1'));
  const redis = new Redis(service.env.REDIS_URL!);
  const keys = await redis.keys(`${service.env.QUEUE_PREFIX}:limit:*`);
  redis.disconnect();
  expect(keys.length).toBeGreaterThan(3);
  for (const secret of [shared.email, shared.accountKey, '127.0.0.1'])
    expect(keys.join()).not.toContain(secret);
});

test('a shipper that an operator limits keeps to that within ten seconds on every process, and is told so', async () => {
  const path = `/shippers/${slow.shipperId}`;
  const there = accountAt(slow, second);
  expectSuccess(await there.call('/v1/webhooks'), 200); // it is known there without a limit
  expectSuccess(await operator(service, path, { method: 'PATCH', body: { rateLimit: 1 } }), 200);
  const changedAt = Date.now();
  await sleep(10_000 - (Date.now() - changedAt));
  const responses = await inSequences(1, 30, () => there.call('/v1/webhooks'));
  expect(tally(responses)[200]).toBeLessThanOrEqual(12);
  const refused = responses.at(-1)!;
  expectLimited(refused, 6);
  expect(refused.body.error.message).toContain('1 a second');
  expectSuccess(await operator(service, path, { method: 'PATCH', body: { rateLimit: null } }), 200);
  expectSuccess(await slow.call('/v1/states'), 200);
});

test('what the operator allows a shipper holds for its programs and its users together', async () => {
  const { call } = await newProgram(service, owner, { scopes: ['read'] });
  const path = `/shippers/${owner.shipperId}`;
  expectSuccess(await operator(service, path, { method: 'PATCH', body: { rateLimit: 1 } }), 200);
  const responses = await inSequences(1, 20, () => call('/v1/webhooks'));
  const refused = responses.at(-1)!;
  expectLimited(refused, 6);
  expect(refused.body.error.message).toContain('the operator allows this account 1 a second');
  expect(tally(responses)[200]).toBeLessThanOrEqual(10);
  expect((await owner.call('/v1/webhooks')).httpStatus).toBe(429);
});
