import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import {
  basic,
  callAsPortal,
  fromPortal,
  logInToPortal,
  openSession,
  operator,
  registerAccount,
  request,
  type Account,
  type Request,
} from '../../support/client.js';
import { expectFailure, expectSuccess, expectWrong, offsetForm } from '../../support/expect.js';
import {
  startProcess,
  startService,
  stopProcess,
  type RunningProcess,
  type Service,
} from '../../support/harness.js';
import { until } from '../../support/until.js';

/** Ended access is refused everywhere within this time. */
const boundMs = 10_000;

let service: Service;
let another: RunningProcess;
let overHttps: RunningProcess;
let account: Account;
let cookie: string;

beforeAll(async () => {
  service = await startService({ env: { LOGIN_LIMIT_ACCOUNT: '1000', SIMULATE: 'true' } });
  [another, overHttps] = await Promise.all([
    startProcess(service.env, 'api'),
    startProcess({ ...service.env, PUBLIC_URL: 'https://parcels.example.com' }, 'api'),
  ]);
  account = await registerAccount(service);
  cookie = await openSession(service, account);
});
afterAll(async () => {
  await Promise.all([another, overHttps].filter(Boolean).map(stopProcess));
  await service?.stop();
});

type At = { url: string };
const asPortal = (path: string, options: Request = {}, at: At = service, own = cookie) =>
  callAsPortal(at, own, path, options);
const session = (own: string, at: At = service) => asPortal('/v1/session', {}, at, own);
const endSession = (own: string, at: At = service) => asPortal('/v1/session', { method: 'DELETE' }, at, own);
const attributesOf = (header: string | null) => (header ?? '').split('; ').slice(1).sort();
const tokenOf = (own: string) => own.slice(own.indexOf('=') + 1);

describe('logging in', () => {
  test('gives a cookie that no script reads, for this site alone, as long as a token lives, and no token', async () => {
    const response = await logInToPortal(service, account);
    expectSuccess(response, 201);
    const header = response.headers.get('set-cookie');
    expect(header).toMatch(/^parcelhook-session=[\w.-]+;/);
    expect(attributesOf(header)).toEqual(['HttpOnly', 'Max-Age=3600', 'Path=/', 'SameSite=Strict']);
    expect(response.data).toEqual({
      user: { userId: account.userId, email: account.email },
      shipper: { shipperId: account.shipperId, name: 'Shipper' },
      expiresAt: expect.stringMatching(offsetForm),
      features: { simulate: true, email: false },
    });
    const leftMs = Date.parse(response.data.expiresAt as string) - Date.now();
    expect(Math.abs(leftMs - 3_600_000)).toBeLessThan(60_000);
    expect(response.headers.get('cache-control')).toContain('no-store');
  });

  test('over HTTPS the cookie is the host’s own and secure; the name without the prefix does not count there', async () => {
    const response = await logInToPortal(overHttps, account);
    const header = response.headers.get('set-cookie')!;
    expect(header).toMatch(/^__Host-parcelhook=[\w.-]+;/);
    expect(attributesOf(header)).toEqual(['HttpOnly', 'Max-Age=3600', 'Path=/', 'SameSite=Strict', 'Secure']);
    const own = header.split(';')[0]!;
    expectSuccess(await asPortal('/v1/webhooks', {}, overHttps, own), 200);
    for (const name of ['parcelhook-session', '__host-parcelhook', '__Secure-parcelhook', '__Host-'])
      expectFailure(await asPortal('/v1/webhooks', {}, overHttps, `${name}=${tokenOf(own)}`), 401);
    expectFailure(await asPortal('/v1/webhooks', {}, service, own), 401);
  });

  test('e-mail addresses are matched as at the other login', async () => {
    expectSuccess(await logInToPortal(service, { ...account, email: ' USER@Example.COM ' }), 201);
  });

  test('ends the session whose cookie it replaces, and only if it succeeds', async () => {
    const own = await openSession(service, account);
    const logInAgain = (password: string) =>
      request(`${service.url}/v1/session`, {
        body: { key: account.accountKey, email: account.email, password },
        headers: { ...fromPortal, cookie: own },
      });
    expectFailure(await logInAgain('wrong horse battery'), 401);
    expect((await session(own)).data).not.toBeNull();
    const response = await logInAgain(account.password);
    expectSuccess(response, 201);
    expect((await session(own)).data).toBeNull();
    expectFailure(await asPortal('/v1/webhooks', {}, service, own), 401);
    const next = response.headers.get('set-cookie')!.split(';')[0]!;
    expect((await session(next)).data).toEqual(response.data);
    expect((await session(cookie)).data).not.toBeNull(); // another of the same user
  });

  test.each<[string, Partial<Account>]>([
    ['a wrong password', { password: 'wrong horse battery' }],
    ['an unknown e-mail address', { email: 'nobody@example.com' }],
    ['an unknown key', { accountKey: 'ak_unknown' }],
  ])('with %s is 401 with the same words, no cookie, and no window of the browser', async (_, wrong) => {
    const response = await logInToPortal(service, { ...account, ...wrong });
    expectFailure(response, 401);
    expect(response.headers.get('www-authenticate')).toMatch(/^Bearer /); // browsers ask people at Basic
    expect(response.headers.get('set-cookie')).toBeNull();
    const login = await request(`${service.url}/v1/login?key=ak_unknown`, {
      headers: { authorization: basic(account.email, 'x') },
    });
    expect(response.body.error.message).toBe(login.body.error.message);
  });

  test('a refusal is in the audit log, as of any login', async () => {
    const other = await registerAccount(service, 'guessed@example.com');
    expectFailure(await logInToPortal(service, { ...other, password: 'wrong horse battery' }), 401);
    await until(
      'it is written',
      async () => {
        const { data } = await operator(service, '/audit?limit=250');
        return (data.entries as { action: string; userId: string }[]).some(
          ({ action, userId }) => action === 'LOGIN_REFUSED' && userId === other.userId,
        );
      },
      90_000,
    );
  }, 100_000);

  test('a body that is not valid is 400 that names every wrong field', async () => {
    const send = (body: object) => request(`${service.url}/v1/session`, { body, headers: fromPortal });
    expectWrong(await send({}), ['key', 'email', 'password']);
    expectWrong(await send({ key: 7, email: '', password: 'x'.repeat(1_001) }), ['key', 'email', 'password']);
    expectWrong(await send({ key: 'k'.repeat(256), email: 'a\u0000', password: 'x' }), ['key', 'email']);
  });

  test('a suspended shipper gets 403 with the right password only, and its sessions rest', async () => {
    const other = await registerAccount(service, 'suspended@example.com');
    const own = await openSession(service, other);
    const set = (status: string) =>
      operator(service, `/shippers/${other.shipperId}`, { method: 'PATCH', body: { status } });
    await set('SUSPENDED');
    expectFailure(await logInToPortal(service, other), 403);
    expectFailure(await logInToPortal(service, { ...other, password: 'wrong horse battery' }), 401);
    expectFailure(await asPortal('/v1/webhooks', {}, service, own), 403);
    expect((await session(own)).data).toBeNull();
    await set('ACTIVE');
    expect((await session(own)).data).toMatchObject({ user: { email: other.email } });
    await set('SUSPENDED');
    expectSuccess(await endSession(own), 200);
    await set('ACTIVE');
    expect((await session(own)).data).toBeNull(); // ended while suspended
  });
});

describe('the session', () => {
  test('tells who is logged in, to the same words as the login', async () => {
    const login = await logInToPortal(service, account);
    const own = login.headers.get('set-cookie')!.split(';')[0]!;
    const response = await session(own);
    expectSuccess(response, 200);
    expect(response.data).toEqual(login.data);
  });

  test('without a cookie, or with one that is none, it is 200 and null', async () => {
    const { url } = service;
    const bare = await request(`${url}/v1/session`, { headers: { 'sec-fetch-site': 'same-origin' } });
    expectSuccess(bare, 200);
    expect(bare.data).toBeNull();
    for (const junk of [
      'parcelhook-session=',
      'parcelhook-session=x',
      'other=1',
      `${cookie}x`,
      account.token,
    ])
      expect((await session(junk)).data).toBeNull();
    const bearer = await request(`${url}/v1/session`, {
      headers: { ...fromPortal, authorization: `Bearer ${account.token}` },
    });
    expect(bearer.data).toBeNull();
  });

  test('a session that has expired is null, and its cookie is refused', async () => {
    const brief = await startProcess({ ...service.env, TOKEN_TTL: '2s' }, 'api');
    const response = await logInToPortal(brief, account);
    expect(attributesOf(response.headers.get('set-cookie'))).toContain('Max-Age=2');
    const own = response.headers.get('set-cookie')!.split(';')[0]!;
    await until('it is null', async () => (await session(own, brief)).data === null);
    expectFailure(await asPortal('/v1/webhooks', {}, brief, own), 401);
    await stopProcess(brief);
  });
});

describe('logging out', () => {
  test('ends this session here at once and elsewhere within ten seconds, and no other session or token', async () => {
    const [own, other] = [await openSession(service, account), await openSession(service, account)];
    for (const at of [service, another]) expect((await session(own, at)).data).not.toBeNull();
    const response = await endSession(own);
    expectSuccess(response, 200);
    expect(response.data).toEqual({});
    expect(response.headers.get('set-cookie')).toMatch(/^parcelhook-session=; /);
    expect(attributesOf(response.headers.get('set-cookie'))).toContain('Max-Age=0');
    expect((await session(own)).data).toBeNull();
    expectFailure(await asPortal('/v1/webhooks', {}, service, own), 401);
    const isRefused = async () => (await asPortal('/v1/webhooks', {}, another, own)).httpStatus === 401;
    expect(await until('known to the other process', isRefused)).toBeLessThan(boundMs);
    expect((await session(own, another)).data).toBeNull();
    for (const at of [service, another]) {
      expect((await session(other, at)).data).not.toBeNull();
      expectSuccess(
        await request(`${at.url}/v1/webhooks?key=${account.accountKey}`, {
          headers: { authorization: `Bearer ${account.token}` },
        }),
        200,
      );
    }
  });

  test('without a session, or twice, is 200 and clears the cookie', async () => {
    const own = await openSession(service, account);
    const calls = [endSession(own), endSession(own), endSession('parcelhook-session=x'), endSession('a=b')];
    for (const response of [...(await Promise.all(calls)), await endSession(own)]) {
      expectSuccess(response, 200);
      expect(response.data).toEqual({});
      expect(attributesOf(response.headers.get('set-cookie'))).toContain('Max-Age=0');
    }
    const rows = await service.sql('select from ended_sessions where session_id = $1', [
      decodeJwt(tokenOf(own)).jti,
    ]);
    expect(rows).toHaveLength(1);
  });

  test('is known to a process that starts later', async () => {
    const own = await openSession(service, account);
    await endSession(own);
    const later = await startProcess(service.env, 'api');
    expect((await session(own, later)).data).toBeNull();
    expectFailure(await asPortal('/v1/webhooks', {}, later, own), 401);
    await stopProcess(later);
  });
});

test('logins to the portal and to the API count together', async () => {
  const limited = await startService({ role: 'api', env: { LOGIN_LIMIT_ACCOUNT: '6' } });
  const user = await registerAccount(limited); // the first of the six
  const login = () =>
    request(`${limited.url}/v1/login?key=${user.accountKey}`, {
      headers: { authorization: basic(user.email, user.password) },
    });
  for (let n = 0; n < 2; n += 1) {
    expectSuccess(await logInToPortal(limited, user), 201);
    expectSuccess(await login(), 200);
  }
  expectSuccess(await logInToPortal(limited, user), 201);
  for (const refused of [await logInToPortal(limited, user), await login()]) {
    expectFailure(refused, 429);
    expect(refused.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  }
  await limited.stop();
});

test('TOKEN_SECRET rotates without a gap for sessions, too', async () => {
  const { TOKEN_SECRET: old } = service.env as { TOKEN_SECRET: string };
  const env = { ...service.env, TOKEN_SECRET: `new-${old}`, TOKEN_SECRET_PREVIOUS: old };
  const process = await startProcess(env, 'api');
  expect((await session(cookie, process)).data).not.toBeNull();
  await stopProcess(process);
});
