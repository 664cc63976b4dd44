import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { expectFailure, expectSuccess } from '../../support/expect.js';
import {
  basic,
  callAsPortal,
  newProgram,
  openSession,
  operator,
  programAt,
  registerAccount,
  request,
  type Account,
  type Program,
} from '../../support/client.js';
import { startProcess, stopProcess, type RunningProcess } from '../../support/harness.js';
import { accountAt } from '../../support/deployment.js';
import { sharedService, type SharedService } from '../../support/shared-service.js';
import { until } from '../../support/until.js';

/** Ended access is refused everywhere within this time. */
const boundMs = 10_000;

let service: SharedService;
let another: RunningProcess;
let accounts = 0;

beforeAll(async () => {
  service = await sharedService();
  another = await startProcess(service.env, 'api');
});
afterAll(() => another && stopProcess(another));

/** An account with a session in the portal. */
type Known = Account & { cookie: string };

async function knownAccount(): Promise<Known> {
  const account = await registerAccount(service, `user${(accounts += 1)}@example.com`);
  const known = { ...account, cookie: await openSession(service, account) };
  await worksOnBoth(known);
  return known;
}
/** Each way in which a user may ask. */
const waysOf = (account: Known, process: { url: string }) => [
  () => accountAt(account, process).call('/v1/webhooks'),
  () => callAsPortal(process, account.cookie, '/v1/webhooks'),
];

const login = (account: Account, { accountKey = account.accountKey, password = account.password } = {}) =>
  request(`${another.url}/v1/login?key=${accountKey}`, {
    headers: { authorization: basic(account.email, password) },
  });
const again = async (account: Known, changes: { accountKey?: string; password?: string } = {}) => {
  const response = await login(account, changes);
  expectSuccess(response, 200);
  const cookie = await openSession(another, { ...account, ...changes });
  return { ...account, ...changes, cookie, token: response.data.token as string };
};
const refusedOnBoth = async (account: Known, httpStatus: number) => {
  for (const ask of waysOf(account, service)) expectFailure(await ask(), httpStatus); // this process made the change
  const there = waysOf(account, another);
  const isRefused = async () => (await there[0]!()).httpStatus !== 200;
  expect(await until('known to the other process', isRefused)).toBeLessThan(boundMs);
  for (const ask of there) expectFailure(await ask(), httpStatus);
};
async function knownProgram(account: Account) {
  const { token, tokenId } = await newProgram(service, account, { scopes: ['read'] });
  const [here, there] = [service, another].map((process) => programAt(process, token)) as [Call, Call];
  const path = (query: string) => `/v1/webhooks${query}`;
  return {
    tokenId,
    isAcceptedThere: async () => (await there(path(''))).httpStatus === 200,
    worksOnBoth: async (query = '') => {
      for (const call of [here, there]) expectSuccess(await call(path(query)), 200);
    },
    refusedOnBoth: async (httpStatus: number, query = '') => {
      expectFailure(await here(path(query)), httpStatus); // this process made the change
      const isRefused = async () => (await there(path(query))).httpStatus !== 200;
      expect(await until('known to the other process', isRefused)).toBeLessThan(boundMs);
      expectFailure(await there(path(query)), httpStatus);
    },
  };
}
type Call = Program['call'];

const worksOnBoth = async (account: Known) => {
  for (const process of [service, another])
    for (const ask of waysOf(account, process)) expectSuccess(await ask(), 200);
};
const setPassword = async (link: string, password: string) =>
  request(`${service.url}/set-password`, {
    raw: new URLSearchParams({ token: new URL(link).searchParams.get('token')!, password }).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
const newLink = async ({ userId }: Account) =>
  (await operator(service, `/users/${userId}/password-link`, { method: 'POST' })).data
    .setPasswordUrl as string;
const set = (account: Account, status: string) =>
  operator(service, `/shippers/${account.shipperId}`, { method: 'PATCH', body: { status } });

// The longest tests come first: five run concurrently.
describe('on every process within ten seconds', () => {
  test.concurrent('a rotated account key works for its overlap, with its tokens, and then ends', async () => {
    const account = await knownAccount();
    const path = `/shippers/${account.shipperId}/rotate-key`;
    const rotated = await operator(service, path, { body: { overlap: '4s' } });
    expectSuccess(rotated, 200);
    const accountKey = rotated.data.accountKey as string;
    const until4s = new Date(rotated.data.previousKeyValidUntil as string).getTime();
    expect(Math.abs(until4s - Date.now() - 4_000)).toBeLessThan(2_000);
    await worksOnBoth({ ...account, accountKey }); // an earlier token with the new key
    const renewed = await again(account, { accountKey });
    await worksOnBoth(renewed);
    const there = accountAt(account, another);
    const isOver = async () => (await there.call('/v1/webhooks')).httpStatus !== 200;
    expect(await until('the overlap is over', isOver, 20_000)).toBeLessThan(4_000 + boundMs);
    expectFailure(await login(account), 401);
    for (const ask of waysOf({ ...account, accountKey }, another)) expectFailure(await ask(), 401);
    await worksOnBoth(renewed);
  });

  test.concurrent(
    'a suspended shipper gets 403 until it is resumed, with valid credentials only',
    async () => {
      const account = await knownAccount();
      const other = await knownAccount();
      expectSuccess(await set(account, 'SUSPENDED'), 200);
      await refusedOnBoth(account, 403);
      expectFailure(await login(account), 403);
      expectFailure(await login(account, { password: 'a wrong password' }), 401);
      expectFailure(
        await accountAt({ ...account, token: `${account.token}x` }, another).call('/v1/webhooks'),
        401,
      );
      await worksOnBoth(other);
      expectSuccess(await set(account, 'ACTIVE'), 200);
      expectSuccess(await account.call('/v1/webhooks'), 200);
      const there = accountAt(account, another);
      const works = async () => (await there.call('/v1/webhooks')).httpStatus === 200;
      expect(await until('resumed', works)).toBeLessThan(boundMs);
    },
  );

  test.concurrent('a new password revokes tokens, sessions and other links', async () => {
    const account = await knownAccount();
    const [first, second] = [await newLink(account), await newLink(account)];
    expect((await setPassword(second, 'another long password')).httpStatus).toBe(200);
    expect((await setPassword(first, 'yet another password')).httpStatus).toBe(404);
    await refusedOnBoth(account, 401);
    expectFailure(await login(account), 401);
    await worksOnBoth(await again(account, { password: 'another long password' }));
  });

  test.concurrent('a sign-out revokes tokens and sessions, but not the password', async () => {
    const account = await knownAccount();
    expectSuccess(await operator(service, `/users/${account.userId}/sign-out`, { method: 'POST' }), 200);
    await refusedOnBoth(account, 401);
    await worksOnBoth(await again(account));
  });

  test.concurrent(
    'removing a user revokes tokens, sessions and links; the address may be registered again',
    async () => {
      const account = await knownAccount();
      const link = await newLink(account);
      expectSuccess(await operator(service, `/users/${account.userId}`, { method: 'DELETE' }), 200);
      await refusedOnBoth(account, 401);
      expectFailure(await login(account), 401);
      expect((await setPassword(link, 'another long password')).httpStatus).toBe(404);
      const body = { email: account.email, password: account.password };
      expectSuccess(await operator(service, `/shippers/${account.shipperId}/users`, { body }), 201);
      await worksOnBoth(await again(account));
      await refusedOnBoth(account, 401); // the token of the removed user stays void
    },
  );

  test.concurrent('a removed shipper gets 401 for good, and its key and users are unknown', async () => {
    const account = await knownAccount();
    const other = await knownAccount();
    const path = `/shippers/${account.shipperId}`;
    expectSuccess(await operator(service, path, { method: 'DELETE' }), 202);
    await refusedOnBoth(account, 401);
    expectFailure(await login(account), 401);
    const foreign = { ...other, accountKey: account.accountKey };
    expectFailure(await accountAt(foreign, service).call('/v1/webhooks'), 401); // 403 would reveal it
    expectSuccess(await operator(service, path, { method: 'DELETE' }), 202);
    for (const [sub, method, body] of [
      ['', 'PATCH', { status: 'ACTIVE' }],
      ['/rotate-key', 'POST', {}],
      ['/users', 'POST', { email: 'new@example.com' }],
    ] as const)
      expectFailure(await operator(service, path + sub, { method, body }), 404);
    for (const [sub, method] of [
      ['/sign-out', 'POST'],
      ['/password-link', 'POST'],
      ['', 'DELETE'],
    ] as const)
      expectFailure(await operator(service, `/users/${account.userId}${sub}`, { method }), 404);
  });

  test.concurrent('a revoked token of a program is refused', async () => {
    const account = await knownAccount();
    const program = await knownProgram(account);
    await program.worksOnBoth();
    expectSuccess(await account.call(`/v1/tokens/${program.tokenId}`, { method: 'DELETE' }), 200);
    await program.refusedOnBoth(401);
    await worksOnBoth(account);
  });

  test.concurrent(
    'a token of a program outlives its maker and a rotated key, waits for a suspension, and ends with its shipper',
    async () => {
      const account = await knownAccount();
      const program = await knownProgram(account);
      await program.worksOnBoth();
      const path = `/shippers/${account.shipperId}`;
      const { data } = await operator(service, `${path}/rotate-key`, { body: { overlap: '0s' } });
      expectSuccess(await operator(service, `/users/${account.userId}`, { method: 'DELETE' }), 200);
      await refusedOnBoth(account, 401);
      await program.worksOnBoth();
      await program.worksOnBoth(`?key=${data.accountKey}`);
      await program.refusedOnBoth(401, `?key=${account.accountKey}`);
      expectSuccess(await set(account, 'SUSPENDED'), 200);
      await program.refusedOnBoth(403);
      expectSuccess(await set(account, 'ACTIVE'), 200);
      expect(await until('resumed', program.isAcceptedThere)).toBeLessThan(boundMs);
      expectSuccess(await operator(service, path, { method: 'DELETE' }), 202);
      await program.refusedOnBoth(401);
    },
  );

  test.concurrent('a leaked key ends without an overlap', async () => {
    const account = await knownAccount();
    const path = `/shippers/${account.shipperId}/rotate-key`;
    const { data } = await operator(service, path, { body: { overlap: '0s' } });
    await refusedOnBoth(account, 401);
    await worksOnBoth(await again(account, { accountKey: data.accountKey as string }));
  });

  test.concurrent('one of two links setting a password concurrently succeeds', async () => {
    const account = await knownAccount();
    const links = await Promise.all([1, 2, 3, 4].map(() => newLink(account)));
    const responses = await Promise.all(links.map((link, n) => setPassword(link, `a long password ${n}`)));
    expect(responses.map(({ httpStatus }) => httpStatus).sort()).toEqual([200, 404, 404, 404]);
  });

  test.concurrent('a user removed during password verification gets no token', async () => {
    const account = await knownAccount();
    const client = new pg.Client({ connectionString: service.env.DATABASE_URL });
    await client.connect();
    try {
      await client.query('begin');
      await client.query('select from users where user_id = $1 for update', [account.userId]);
      const response = login(account);
      await until('the login waits', async () => {
        const waiting = await service.sql(
          `select from pg_stat_activity
            where datname = current_database() and wait_event_type = 'Lock' and query like '%login_origins%'`,
        );
        return waiting.length > 0;
      });
      for (const table of ['password_links', 'users'])
        await client.query(`delete from ${table} where user_id = $1`, [account.userId]);
      await client.query('commit');
      expectFailure(await response, 401);
    } finally {
      await client.end();
    }
  });

  test.concurrent(
    'requests accepted by another process meanwhile have no effect: webhooks are held or not stored',
    async () => {
      const account = await knownAccount();
      const body = { interests: ['*'], targetAddress: 'https://example.org/hook' };
      const there = accountAt(account, another);
      expectSuccess(await set(account, 'SUSPENDED'), 200);
      const late = await there.call('/v1/webhooks', { body });
      if (late.httpStatus !== 201) expectFailure(late, 403);
      const webhooks = () =>
        service.sql('select suspended, deleted_at is null as live from webhooks where shipper_id = $1', [
          account.shipperId,
        ]);
      const made = late.httpStatus === 201 ? 1 : 0;
      expect(await webhooks()).toEqual(Array(made).fill({ suspended: true, live: true }));
      expectSuccess(await set(account, 'ACTIVE'), 200);
      expect(await webhooks()).toEqual(Array(made).fill({ suspended: false, live: true }));
      await until('works', async () => (await there.call('/v1/webhooks')).httpStatus === 200);
      expect(
        (await operator(service, `/shippers/${account.shipperId}`, { method: 'DELETE' })).httpStatus,
      ).toBe(202);
      expectFailure(await there.call('/v1/webhooks', { body }), 401);
      expect(await webhooks()).toEqual(Array(made).fill({ suspended: false, live: false }));
    },
  );

  // The last test, because it locks a table.
  test('if PostgreSQL cannot confirm access, requests get 503 after the limit and are not let through', async () => {
    const account = accountAt(await knownAccount(), another);
    const invalid = () => account.call('/v1/shipments', { body: {} }); // needs no PostgreSQL
    expectFailure(await invalid(), 400);
    const client = new pg.Client({ connectionString: service.env.DATABASE_URL });
    await client.connect();
    try {
      await client.query('begin; lock table users in access exclusive mode');
      const isUnavailable = async () => (await invalid()).httpStatus === 503;
      expect(await until('503', isUnavailable)).toBeLessThan(boundMs);
      const response = await invalid();
      expect([response.httpStatus, response.body.status]).toEqual([503, 'UNAVAILABLE']);
      expect(response.headers.get('retry-after')).toMatch(/^\d+$/);
    } finally {
      await client.end();
    }
    await until('confirmed again', async () => (await invalid()).httpStatus === 400);
  });
});
