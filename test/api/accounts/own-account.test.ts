import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createSecretKey } from 'node:crypto';
import { decodeJwt, SignJWT } from 'jose';
import {
  basic,
  callAsPortal,
  logInToPortal,
  newProgram,
  openSession,
  operator,
  readAll,
  registerAccount,
  registerWebhook,
  request,
  type Account,
} from '../../support/client.js';
import { expectFailure, expectSuccess, expectWrong, offsetForm } from '../../support/expect.js';
import { startProcess, stopProcess, type RunningProcess } from '../../support/harness.js';
import { sharedService } from '../../support/shared-service.js';
import { untilWaiting } from '../../support/feed.js';
import { until } from '../../support/until.js';

const service = await sharedService();

const newPassword = 'correct horse battery staple';
const cookieOf = ({ headers }: { headers: Headers }) => headers.get('set-cookie')!.split(';')[0]!;
const sessionOf = async (cookie: string) => (await callAsPortal(service, cookie, '/v1/session')).data;
const login = (account: Account, password: string, { url }: { url: string } = service) =>
  request(`${url}/v1/login?key=${account.accountKey}`, {
    headers: { authorization: basic(account.email, password) },
  });
const change = (
  cookie: string,
  currentPassword: string,
  chosen = newPassword,
  at: { url: string } = service,
) =>
  callAsPortal(at, cookie, '/v1/password', {
    method: 'POST',
    body: { currentPassword, newPassword: chosen },
  });
/** Another user of the same account. */
async function colleagueOf(account: Account, email: string): Promise<Account> {
  const { password } = account;
  const made = await operator(service, `/shippers/${account.shipperId}/users`, { body: { email, password } });
  const colleague = { ...account, email, userId: made.data.userId as string };
  return { ...colleague, token: (await login(colleague, password)).data.token as string };
}
const asUser = (account: Account, path: string) =>
  account.call(path, { headers: { authorization: `Bearer ${account.token}` } });
const openSupport = async (account: Account) => {
  const link = await operator(service, `/shippers/${account.shipperId}/portal-link`, { method: 'POST' });
  const raw = new URL(link.data.url as string).searchParams.toString();
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  return cookieOf(await request(`${service.url}/support`, { raw, headers }));
};

describe('the users of an account', () => {
  test('are seen by each of them and by nobody else, page by page', async () => {
    const account = await registerAccount(service, 'first@example.com');
    const other = await registerAccount(service, 'stranger@example.com');
    await colleagueOf(account, 'second@example.com');
    await operator(service, `/shippers/${account.shipperId}/users`, { body: { email: 'third@example.com' } });
    const users = await readAll<object>(account.call, '/v1/users?limit=2', 'users');
    expect(users).toMatchObject([
      { userId: account.userId, email: 'first@example.com', hasPassword: true },
      { email: 'second@example.com', hasPassword: true },
      { email: 'third@example.com', hasPassword: false, createdAt: expect.stringMatching(offsetForm) },
    ]);
    const reader = await newProgram(service, account, { scopes: ['read'] });
    expect((await reader.call('/v1/users')).data.users).toEqual(users);
    expect((await callAsPortal(service, await openSupport(account), '/v1/users')).data.users).toEqual(users);
    expect((await other.call('/v1/users')).data.users).toMatchObject([{ email: 'stranger@example.com' }]);
    const { data } = await account.call('/v1/users?limit=1');
    expectWrong(await other.call(`/v1/users?cursor=${String(data.nextCursor)}`), ['cursor']);
  });
});

describe('the audit log of an account', () => {
  test('has its own entries, newest first, page by page, and neither name nor address of an operator', async () => {
    const account = await registerAccount(service, 'audited@example.com');
    const other = await registerAccount(service, 'other@example.com');
    await registerWebhook(other, 'https://example.com/other');
    const { webhookId } = await registerWebhook(account, 'https://example.com/own');
    const { tokenId, token } = await newProgram(service, account, { scopes: ['webhooks', 'read'] });
    await request(`${service.url}/v1/webhooks/${webhookId}`, {
      method: 'PATCH',
      body: { description: 'Changed' },
      headers: { authorization: `Bearer ${token}` },
    });
    const cookie = await openSupport(account);
    const entries = await readAll<Record<string, any>>(account.call, '/v1/audit?limit=2', 'entries');
    const ofOperator = { kind: 'OPERATOR', name: null, address: null };
    const ofUser = { kind: 'USER', name: account.userId, address: '127.0.0.1' };
    expect(entries.map(({ action, actor }) => [action, actor])).toEqual([
      ['SUPPORT_LINK_OPENED', ofOperator],
      ['SUPPORT_LINK_CREATED', ofOperator],
      ['WEBHOOK_UPDATED', { kind: 'TOKEN', name: tokenId, address: '127.0.0.1' }],
      ['TOKEN_CREATED', ofUser],
      ['WEBHOOK_CREATED', ofUser],
      ['USER_CREATED', ofOperator],
      ['SHIPPER_CREATED', ofOperator],
    ]);
    for (const { shipperId } of entries) expect(shipperId).toBe(account.shipperId);
    expect(entries[2]).toMatchObject({ webhookId, outcome: 'DONE', at: expect.stringMatching(offsetForm) });
    expect((await callAsPortal(service, cookie, '/v1/audit')).data.entries).toEqual(entries);
    const theirs = await readAll<{ shipperId: string }>(other.call, '/v1/audit?limit=2', 'entries');
    expect(new Set(theirs.map(({ shipperId }) => shipperId))).toEqual(new Set([other.shipperId]));
    const { data } = await account.call('/v1/audit?limit=1');
    expectWrong(await other.call(`/v1/audit?cursor=${String(data.nextCursor)}`), ['cursor']);
    const ofAll = await operator(service, `/audit?shipperId=${account.shipperId}&action=SUPPORT_LINK_OPENED`);
    expect(ofAll.data.entries).toMatchObject([{ actor: { name: 'operator', address: '127.0.0.1' } }]);
  });
});

describe('changing the password', () => {
  test('ends what was logged in with the old one, but for the session that asks', async () => {
    const account = await registerAccount(service, 'changing@example.com');
    const colleague = await colleagueOf(account, 'colleague@example.com');
    const program = await newProgram(service, account, { scopes: ['read'] });
    const [own, elsewhere] = [await openSession(service, account), await openSession(service, account)];
    const link = await operator(service, `/users/${account.userId}/password-link`, { method: 'POST' });
    const changed = await change(own, account.password);
    expectSuccess(changed, 200);
    expect(changed.data).toEqual({});
    const next = cookieOf(changed);
    expect(await sessionOf(next)).toMatchObject({ user: { userId: account.userId } });
    expectSuccess(await callAsPortal(service, next, '/v1/webhooks'), 200);
    for (const cookie of [own, elsewhere]) expect(await sessionOf(cookie)).toBeNull();
    expectFailure(await account.call('/v1/webhooks'), 401);
    expectFailure(await login(account, account.password), 401);
    expectSuccess(await login(account, newPassword), 200);
    expect((await request(link.data.setPasswordUrl as string)).httpStatus).toBe(404);
    expectSuccess(await asUser(colleague, '/v1/webhooks'), 200);
    expectSuccess(await program.call('/v1/webhooks'), 200);
    const { data } = await asUser(colleague, '/v1/audit?limit=1');
    const actor = { kind: 'USER', name: account.userId, address: '127.0.0.1' };
    expect(data.entries).toMatchObject([{ action: 'PASSWORD_SET', userId: account.userId, actor }]);
  });

  test('needs the current one, and a new one by the usual rules', async () => {
    const account = await registerAccount(service, 'refused@example.com');
    const cookie = await openSession(service, account);
    for (const [given, chosen, wrong] of [
      ['not the password', newPassword, ['currentPassword']],
      [account.password, 'short', ['newPassword']],
      [account.password, 'x'.repeat(129), ['newPassword']],
      [account.password, `${'x'.repeat(12)}\ufffd`, ['newPassword']],
      ['', '', ['currentPassword', 'newPassword']],
    ] as const) {
      const response = await change(cookie, given, chosen);
      expectWrong(response, [...wrong]);
      expect(response.headers.get('set-cookie')).toBeNull();
    }
    expect(await sessionOf(cookie)).not.toBeNull();
    expectSuccess(await account.call('/v1/webhooks'), 200);
    expectSuccess(await login(account, account.password), 200);
    const { data } = await operator(service, `/audit?shipperId=${account.shipperId}&action=PASSWORD_SET`);
    expect(data.entries).toEqual([]);
    const newest = async () => (await account.call('/v1/audit?limit=1')).data.entries[0];
    await until('the guess is in the log', async () => (await newest()).action === 'LOGIN_REFUSED');
    expect(await newest()).toMatchObject({
      actor: { kind: 'USER', name: account.userId, address: '127.0.0.1' },
      userId: account.userId,
      outcome: 'REFUSED',
      count: 1,
    });
  });

  test('takes letters with accents, composed or not, and works with an access token', async () => {
    const account = await registerAccount(service, 'accents@example.com');
    const decomposed = 'contrasen\u0303a la\u0301rga';
    const body = { currentPassword: account.password, newPassword: decomposed };
    const changed = await account.call('/v1/password', { body });
    expectSuccess(changed, 200);
    expect(changed.headers.get('set-cookie')).toBeNull();
    expectFailure(await account.call('/v1/webhooks'), 401);
    for (const form of ['NFC', 'NFD']) expectSuccess(await login(account, decomposed.normalize(form)), 200);
  });

  test('twice at once: one change succeeds, and only its password is valid', async () => {
    const account = await registerAccount(service, 'at-once@example.com');
    const cookie = await openSession(service, account);
    const chosen = ['first new password', 'second new password'];
    const responses = await Promise.all(chosen.map((one) => change(cookie, account.password, one)));
    const statuses = responses.map(({ httpStatus }) => httpStatus);
    expect(statuses).toContain(200);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    for (const [n, response] of responses.entries())
      expect((await login(account, chosen[n]!)).httpStatus).toBe(response.httpStatus === 200 ? 200 : 401);
  });

  describe('while other requests of the session are about to renew its cookie', () => {
    const sentBy = ({ headers }: { headers: Headers }) => headers.get('set-cookie');
    const secret = createSecretKey(Buffer.from(service.env.TOKEN_SECRET!));
    /** Returns the cookie of the same session shortly before its end, so that the next request renews it. */
    const lateOf = async (cookie: string) => {
      const claims = decodeJwt(cookie.slice(cookie.indexOf('=') + 1));
      const late = new SignJWT({ ...claims, exp: Math.floor(Date.now() / 1_000) + 60 });
      return `parcelhook-session=${await late.setProtectedHeader({ alg: 'HS256' }).sign(secret)}`;
    };
    const latePortalOf = async (email: string) => {
      const account = await registerAccount(service, email);
      return { account, late: await lateOf(await openSession(service, account)) };
    };

    test('one that ends before the change renews the cookie, and the change replaces it', async () => {
      const { account, late } = await latePortalOf('before-change@example.com');
      const renewed = cookieOf(await callAsPortal(service, late, '/v1/webhooks'));
      const next = cookieOf(await change(late, account.password));
      expect(await sessionOf(next)).not.toBeNull();
      for (const old of [late, renewed]) {
        expect(await sessionOf(old)).toBeNull();
        expect(sentBy(await callAsPortal(service, old, '/v1/webhooks'))).toBeNull();
      }
    });

    test('one that ends after the change gets no cookie', async () => {
      const { account, late } = await latePortalOf('after-change@example.com');
      const waiting = callAsPortal(service, late, '/v1/events?after=latest&wait=30s');
      await untilWaiting(service);
      const next = cookieOf(await change(late, account.password));
      const response = await waiting;
      expectFailure(response, 401);
      expect(sentBy(response)).toBeNull();
      expect(await sessionOf(next)).not.toBeNull();
    });

    test('one that the database does not confirm in time gets its response without a cookie', async () => {
      const { late } = await latePortalOf('slow-database@example.com');
      expect(sentBy(await callAsPortal(service, late, '/v1/shipments'))).not.toBeNull();
      let isLocked = true;
      const locked = service
        .sql('begin; lock table users; select pg_sleep(1.5); commit')
        .finally(() => (isLocked = false));
      const locks = `select from pg_locks where relation = 'users'::regclass and mode = 'AccessExclusiveLock' and granted`;
      await until('users are locked', async () => (await service.sql(locks)).length > 0);
      const response = await callAsPortal(service, late, '/v1/shipments');
      expectSuccess(response, 200);
      expect([sentBy(response), isLocked]).toEqual([null, true]);
      await locked;
    });

    test('one at a process that does not know of the change yet gets no cookie', async () => {
      const elsewhere = await startProcess(service.env, 'api');
      const { account, late } = await latePortalOf('elsewhere-change@example.com');
      expect(sentBy(await callAsPortal(elsewhere, late, '/v1/webhooks'))).not.toBeNull();
      expectSuccess(await change(late, account.password), 200);
      for (const path of ['/v1/webhooks', '/v1/session']) {
        const response = await callAsPortal(elsewhere, late, path);
        expectSuccess(response, 200);
        expect(sentBy(response)).toBeNull();
      }
      await stopProcess(elsewhere);
    });
  });

  describe('with few logins allowed', () => {
    let strict: RunningProcess;
    beforeAll(async () => {
      strict = await startProcess({ ...service.env, LOGIN_LIMIT_ACCOUNT: '6', REDIS_URL: '' }, 'api');
    });
    afterAll(() => strict && stopProcess(strict));

    test('guesses count as logins do, and together with them', async () => {
      const account = await registerAccount(service, 'guessed@example.com');
      const cookie = cookieOf(await logInToPortal(strict, account)); // the first of the six
      for (let n = 0; n < 5; n += 1)
        expectWrong(await change(cookie, 'a guess', newPassword, strict), ['currentPassword']);
      expectFailure(await change(cookie, account.password, newPassword, strict), 429);
      expectFailure(await login(account, account.password, strict), 429);
    });
  });
});

describe('logging out everywhere', () => {
  test('ends all sessions and tokens of the user on every process, and of nobody and nothing else', async () => {
    const elsewhere = await startProcess(
      { ...service.env, PUBLIC_URL: 'https://parcels.example.com' },
      'api',
    );
    const account = await registerAccount(service, 'everywhere@example.com');
    const colleague = await colleagueOf(account, 'stays@example.com');
    const program = await newProgram(service, account, { scopes: ['read'] });
    const [own, another] = [await openSession(service, account), await openSession(service, account)];
    const there = `__Host-parcelhook=${another.slice(another.indexOf('=') + 1)}`;
    expectSuccess(await callAsPortal(elsewhere, there, '/v1/webhooks'), 200);
    const response = await callAsPortal(service, own, '/v1/sessions', { method: 'DELETE' });
    expectSuccess(response, 200);
    expect(response.data).toEqual({});
    expect(response.headers.get('set-cookie')).toContain('Max-Age=0');
    for (const cookie of [own, another]) expectFailure(await callAsPortal(service, cookie, '/v1/users'), 401);
    expectFailure(await account.call('/v1/webhooks'), 401);
    const isRefused = async () => (await callAsPortal(elsewhere, there, '/v1/webhooks')).httpStatus === 401;
    expect(await until('known to the other process', isRefused)).toBeLessThan(10_000);
    expectSuccess(await asUser(colleague, '/v1/webhooks'), 200);
    expectSuccess(await program.call('/v1/webhooks'), 200);
    const { data } = await asUser(colleague, '/v1/audit?limit=1');
    const actor = { kind: 'USER', name: account.userId, address: '127.0.0.1' };
    expect(data.entries).toMatchObject([{ action: 'USER_SIGNED_OUT', userId: account.userId, actor }]);
    const again = await login(account, account.password);
    expectSuccess(again, 200);
    expect(decodeJwt(again.data.token as string).sub).toBe(account.userId);
    await stopProcess(elsewhere);
  });
});
