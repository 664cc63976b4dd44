import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createSecretKey } from 'node:crypto';
import { SignJWT, decodeJwt, type JWTPayload } from 'jose';
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
import { accountAt } from '../../support/deployment.js';
import { startProcess, stopProcess, type RunningProcess } from '../../support/harness.js';
import { sharedService, type SharedService } from '../../support/shared-service.js';
import { until } from '../../support/until.js';

/** See docs/api.md. */
const boundMs = 10_000;

let service: SharedService;
let overHttps: RunningProcess;
let account: Account;
let cookie: string;

beforeAll(async () => {
  service = await sharedService();
  overHttps = await startProcess({ ...service.env, PUBLIC_URL: 'https://parcels.example.com' }, 'api');
  account = await registerAccount(service);
  cookie = await openSession(service, account);
});
afterAll(async () => {
  if (overHttps) await stopProcess(overHttps);
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
      startedAt: expect.stringMatching(offsetForm),
      expiresAt: expect.stringMatching(offsetForm),
      lastsUntil: expect.stringMatching(offsetForm),
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
    const claims = { ...decodeJwt(tokenOf(cookie)), exp: Math.floor(Date.now() / 1_000) - 60 };
    const secret = createSecretKey(Buffer.from(service.env.TOKEN_SECRET!));
    const expired = await new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(secret);
    const own = `parcelhook-session=${expired}`;
    expect((await session(own)).data).toBeNull();
    expectFailure(await asPortal('/v1/webhooks', {}, service, own), 401);
  });
});

describe('while it is used', () => {
  const ttlMs = 6_000;
  const dayMs = 24 * 3_600_000;
  let short: RunningProcess;
  beforeAll(async () => {
    short = await startProcess({ ...service.env, TOKEN_TTL: `${ttlMs}ms` }, 'api');
  });
  afterAll(() => short && stopProcess(short));

  const sentBy = ({ headers }: { headers: Headers }) => headers.get('set-cookie');
  const cookieIn = (response: { headers: Headers }) => sentBy(response)!.split(';')[0]!;
  const read = (own: string) => asPortal('/v1/webhooks', {}, short, own);
  const claimsIn = (own: string) =>
    decodeJwt(tokenOf(own)) as { exp: number; jti: string; auth_time: number };
  const signed = async (claims: JWTPayload) => {
    const secret = createSecretKey(Buffer.from(service.env.TOKEN_SECRET!));
    return `parcelhook-session=${await new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(secret)}`;
  };
  /** A session as if the log-in had been this long ago; it has a second left. */
  const startedAgo = async (own: string, agoMs: number) => {
    const now = Math.floor(Date.now() / 1_000);
    return signed({ ...claimsIn(own), auth_time: now - agoMs / 1_000, exp: now + 2 });
  };

  test('a session is renewed once half of its time has passed, outlives its first cookie, and ends with all of them', async () => {
    const first = await openSession(short, account);
    expect(sentBy(await read(first))).toBeNull();
    await until('half of its time has passed', async () => sentBy(await read(first)) !== null, ttlMs);
    const renewal = await session(first, short); // the session's own endpoint renews it, too
    const second = cookieIn(renewal);
    expect(attributesOf(sentBy(renewal))).toEqual(['HttpOnly', 'Max-Age=6', 'Path=/', 'SameSite=Strict']);
    const { exp, ...rest } = claimsIn(second);
    expect(rest).toMatchObject({ jti: claimsIn(first).jti, auth_time: claimsIn(first).auth_time });
    expect(Date.parse(renewal.data.expiresAt as string)).toBe(exp * 1_000);
    expect(Date.parse(renewal.data.startedAt as string)).toBe(claimsIn(first).auth_time * 1_000);
    expect(Date.parse(renewal.data.lastsUntil as string)).toBe(claimsIn(first).auth_time * 1_000 + dayMs);
    expect(sentBy(await read(second))).toBeNull();
    await until('the first cookie has expired', async () => (await read(first)).httpStatus === 401, ttlMs);
    expectSuccess(await read(second), 200);
    await until('it moves on again', async () => sentBy(await read(second)) !== null, ttlMs);
    const third = cookieIn(await read(second));
    expectSuccess(await endSession(second, short), 200);
    for (const own of [second, third]) {
      const refused = await read(own);
      expectFailure(refused, 401);
      expect(sentBy(refused)).toBeNull();
    }
    const [row] = await service.sql<{ expires_at: Date }>(
      'select expires_at from ended_sessions where session_id = $1',
      [claimsIn(first).jti],
    );
    expect(row!.expires_at.getTime()).toBe(claimsIn(first).auth_time * 1_000 + dayMs);
  });

  test('one of a build whose sessions did not slide goes on, and one from the future does not count', async () => {
    const own = await openSession(short, account);
    const { auth_time: startedAt, ...earlier } = claimsIn(own);
    const old = await signed({ ...earlier, iat: startedAt });
    expect(Date.parse((await session(old, short)).data.startedAt as string)).toBe(startedAt * 1_000);
    const ahead = await signed({ ...earlier, auth_time: startedAt + 3_600 });
    expect((await session(ahead, short)).data).toBeNull();
  });

  test('it lasts up to a day from the log-in and no longer', async () => {
    const own = await openSession(short, account);
    const last = await startedAgo(own, dayMs - 4_000);
    const response = await read(last);
    expect(sentBy(response)).toMatch(/; Max-Age=[34];/);
    const { exp, auth_time: startedAt } = claimsIn(cookieIn(response));
    expect(exp - startedAt).toBe(dayMs / 1_000);
    const over = await startedAgo(own, dayMs);
    expect(sentBy(await read(over))).toBeNull();
  });

  test('no cookie comes for a token of the API, for support, or from a session that is not valid', async () => {
    const login = await accountAt(account, short).call('/v1/login', {
      headers: { authorization: basic(account.email, account.password) },
    });
    const headers = { authorization: `Bearer ${String(login.data.token)}` };
    const link = await operator(service, `/shippers/${account.shipperId}/portal-link`, { method: 'POST' });
    const opened = await request(`${short.url}/support`, {
      raw: new URL(link.data.url as string).searchParams.toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    const support = cookieIn(opened);
    const late = await startedAgo(await openSession(short, account), 60_000);
    const calls = [
      () => accountAt(account, short).call('/v1/webhooks', { headers }),
      () => read(support),
      () => session(support, short),
      () => asPortal('/v1/webhooks?key=ak_unknown', {}, short, late),
      () => asPortal('/v1/webhooks', { headers: { 'sec-fetch-site': 'cross-site' } }, short, late),
    ];
    expect(sentBy(await read(late))).not.toBeNull();
    for (const call of calls) expect(sentBy(await call())).toBeNull();
    await until(
      'more than half of the token’s time has passed',
      async () => {
        const response = await accountAt(account, short).call('/v1/webhooks', { headers });
        expect(sentBy(response)).toBeNull();
        return response.httpStatus === 401;
      },
      2 * ttlMs,
    );
  });
});

describe('logging out', () => {
  test('ends this session here at once and elsewhere within ten seconds, and no other session or token', async () => {
    const [own, other] = [await openSession(service, account), await openSession(service, account)];
    const elsewhere = (one: string) => `__Host-parcelhook=${tokenOf(one)}`;
    expect((await session(own)).data).not.toBeNull();
    expect((await session(elsewhere(own), overHttps)).data).not.toBeNull();
    const response = await endSession(own);
    expectSuccess(response, 200);
    expect(response.data).toEqual({});
    expect(response.headers.get('set-cookie')).toMatch(/^parcelhook-session=; /);
    expect(attributesOf(response.headers.get('set-cookie'))).toContain('Max-Age=0');
    expect((await session(own)).data).toBeNull();
    expectFailure(await asPortal('/v1/webhooks', {}, service, own), 401);
    const isRefused = async () =>
      (await asPortal('/v1/webhooks', {}, overHttps, elsewhere(own))).httpStatus === 401;
    expect(await until('known to the other process', isRefused)).toBeLessThan(boundMs);
    expect((await session(elsewhere(own), overHttps)).data).toBeNull();
    expect((await session(other)).data).not.toBeNull();
    expect((await session(elsewhere(other), overHttps)).data).not.toBeNull();
    for (const at of [service, overHttps])
      expectSuccess(await accountAt(account, at).call('/v1/webhooks'), 200);
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
});

test('a process that starts later, with a new TOKEN_SECRET, knows which sessions ended and which tokens are valid', async () => {
  const own = await openSession(service, account);
  await endSession(own);
  const { TOKEN_SECRET: old } = service.env as { TOKEN_SECRET: string };
  const env = { ...service.env, TOKEN_SECRET: `new-${old}`, TOKEN_SECRET_PREVIOUS: old };
  const later = await startProcess(env, 'api');
  const at = accountAt(account, later);
  expect((await session(own, later)).data).toBeNull();
  expectFailure(await asPortal('/v1/webhooks', {}, later, own), 401);
  expect((await session(cookie, later)).data).not.toBeNull();
  expectSuccess(await at.call('/v1/webhooks'), 200);
  const login = await at.call('/v1/login', {
    headers: { authorization: basic(account.email, account.password) },
  });
  const headers = { authorization: `Bearer ${String(login.data.token)}` };
  expectSuccess(await at.call('/v1/webhooks', { headers }), 200);
  expectFailure(await account.call('/v1/webhooks', { headers }), 401); // this process has only the old secret
  await stopProcess(later);
});
