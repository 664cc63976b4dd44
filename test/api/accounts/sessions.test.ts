import { expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import {
  callAsPortal,
  fromPortal,
  logInToPortal,
  newProgram,
  openSession,
  operator,
  registerAccount,
  request,
  type Account,
} from '../../support/client.js';
import { expectFailure, expectSuccess, offsetForm } from '../../support/expect.js';
import { startProcess, stopProcess } from '../../support/harness.js';
import { sharedService } from '../../support/shared-service.js';
import { until } from '../../support/until.js';

const service = await sharedService();

interface Listed {
  sessionId: string;
  browser: string;
  startedAt: string;
  lastUsedAt: string;
  isCurrent: boolean;
}

const cookieOf = ({ headers }: { headers: Headers }) => headers.get('set-cookie')!.split(';')[0]!;
const tokenOf = (cookie: string) => cookie.slice(cookie.indexOf('=') + 1);
const idOf = (cookie: string) => decodeJwt(tokenOf(cookie)).jti!;
const use = (cookie: string, at: { url: string } = service) => callAsPortal(at, cookie, '/v1/webhooks');
const list = async (cookie: string): Promise<Listed[]> => {
  const response = await callAsPortal(service, cookie, '/v1/sessions');
  expectSuccess(response, 200);
  return response.data.sessions as Listed[];
};
const idsIn = (sessions: Listed[]) => sessions.map(({ sessionId }) => sessionId);
const end = (cookie: string, sessionId: string) =>
  callAsPortal(service, cookie, `/v1/sessions/${sessionId}`, { method: 'DELETE' });
const logInWith = async (account: Account, userAgent: string) =>
  cookieOf(await logInToPortal(service, account, { ...fromPortal, 'user-agent': userAgent }));
const rowOf = async (cookie: string) =>
  (await service.sql('select s.*, s.xmin from sessions s where session_id = $1', [idOf(cookie)]))[0]!;
/** As if the session had not been used for so long. */
const rest = (cookie: string, interval: string) =>
  service.sql('update sessions set last_used_at = now() - $2::interval where session_id = $1', [
    idOf(cookie),
    interval,
  ]);

const firefox = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:141.0) Gecko/20100101 Firefox/141.0';

test('the user sees each own session, the newest first: since when, used when, in which browser, and which asks', async () => {
  const account = await registerAccount(service, 'listed@example.com');
  const first = await logInWith(account, firefox);
  const second = await logInWith(account, `curl/8.5.0 ${'x'.repeat(5_000)}`);
  await service.sql(`update sessions set started_at = started_at - interval '1 hour' where session_id = $1`, [
    idOf(first),
  ]);
  const sessions = await list(first);
  expect(sessions).toEqual([
    {
      sessionId: idOf(second),
      browser: 'curl',
      startedAt: expect.stringMatching(offsetForm),
      lastUsedAt: expect.stringMatching(offsetForm),
      isCurrent: false,
    },
    expect.objectContaining({ sessionId: idOf(first), browser: 'Firefox on Windows', isCurrent: true }),
  ]);
  expect(Math.abs(Date.parse(sessions[0]!.lastUsedAt) - Date.now())).toBeLessThan(60_000);
  const byToken = (await account.call('/v1/sessions')).data.sessions as Listed[];
  expect(byToken).toEqual(sessions.map((one) => ({ ...one, isCurrent: false })));
  const stored = JSON.stringify([await rowOf(first), await rowOf(second)]);
  for (const cookie of [first, second])
    for (const part of tokenOf(cookie).split('.')) expect(stored).not.toContain(part);
});

test('one that is ended is refused here at once and elsewhere within ten seconds, and no other one', async () => {
  const account = await registerAccount(service, 'ending@example.com');
  const [own, lost] = [await openSession(service, account), await openSession(service, account)];
  const elsewhere = await startProcess(service.env, 'api');
  for (const cookie of [own, lost]) expectSuccess(await use(cookie, elsewhere), 200);
  const response = await end(own, idOf(lost));
  expectSuccess(response, 200);
  expect([response.data, response.headers.get('set-cookie')]).toEqual([{}, null]);
  expectFailure(await use(lost), 401);
  expectFailure(await end(own, idOf(lost)), 404);
  const isRefused = async () => (await use(lost, elsewhere)).httpStatus === 401;
  expect(await until('known to the other process', isRefused)).toBeLessThan(10_000);
  for (const at of [service, elsewhere]) expectSuccess(await use(own, at), 200);
  expectSuccess(await account.call('/v1/webhooks'), 200);
  expect(idsIn(await list(own))).toEqual([idOf(own)]);
  const { data } = await account.call('/v1/audit?limit=1');
  const actor = { kind: 'USER', name: account.userId, address: '127.0.0.1' };
  expect(data.entries).toMatchObject([{ action: 'SESSION_ENDED', userId: account.userId, actor, count: 1 }]);
  const last = await end(own, idOf(own).toUpperCase());
  expectSuccess(last, 200);
  expect(last.headers.get('set-cookie')).toContain('Max-Age=0');
  expectFailure(await use(own), 401);
  await stopProcess(elsewhere);
});

test('those of another user, even of the same account, are neither seen nor ended, and no program sees any', async () => {
  const account = await registerAccount(service, 'owner@example.com');
  const made = await operator(service, `/shippers/${account.shipperId}/users`, {
    body: { email: 'next@example.com', password: account.password },
  });
  const colleague = { ...account, email: 'next@example.com', userId: made.data.userId as string };
  const stranger = await registerAccount(service, 'stranger-to-sessions@example.com');
  const own = await openSession(service, account);
  for (const other of [colleague, stranger]) {
    const theirs = await openSession(service, other);
    expect(idsIn(await list(theirs))).toEqual([idOf(theirs)]);
    const refused = await end(theirs, idOf(own));
    expectFailure(refused, 404);
    const ofNobody = await end(theirs, account.userId);
    expectFailure(ofNobody, 404);
    expect(refused.body.error.message).toBe(ofNobody.body.error.message);
    expectFailure(await end(theirs, 'none'), 404);
  }
  const program = await newProgram(service, account, { scopes: ['orders', 'webhooks', 'read'] });
  expectFailure(await program.call('/v1/sessions'), 403);
  expectFailure(await program.call(`/v1/sessions/${idOf(own)}`, { method: 'DELETE' }), 403);
  const link = await operator(service, `/shippers/${account.shipperId}/portal-link`, { method: 'POST' });
  const raw = new URL(link.data.url as string).searchParams.toString();
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const support = cookieOf(await request(`${service.url}/support`, { raw, headers }));
  expect(await list(support)).toEqual([]);
  expectFailure(await end(support, idOf(own)), 403);
  expect(idsIn(await list(own))).toEqual([idOf(own)]);
});

test('what ends sessions in another way takes them from the list', async () => {
  const account = await registerAccount(service, 'otherwise@example.com');
  const [own, left] = [await openSession(service, account), await openSession(service, account)];
  await callAsPortal(service, left, '/v1/session', { method: 'DELETE' });
  expect(idsIn(await list(own))).toEqual([idOf(own)]);
  await openSession(service, account);
  const password = 'correct horse battery staple';
  const body = { currentPassword: account.password, newPassword: password };
  const next = cookieOf(await callAsPortal(service, own, '/v1/password', { method: 'POST', body }));
  expect(await list(next)).toMatchObject([{ sessionId: idOf(next), isCurrent: true }]);
  await callAsPortal(service, next, '/v1/sessions', { method: 'DELETE' });
  const again = await openSession(service, { ...account, password });
  expect(idsIn(await list(again))).toEqual([idOf(again)]);
  const expired = await openSession(service, { ...account, password });
  await service.sql('update sessions set expires_at = now() where session_id = $1', [idOf(expired)]);
  expect(idsIn(await list(again))).toEqual([idOf(again)]);
});

test('a user has at most fifty: one more log-in ends the oldest', async () => {
  const account = await registerAccount(service, 'many@example.com');
  const oldest = await openSession(service, account);
  await service.sql(
    `insert into sessions select gen_random_uuid(), user_id, user_epoch, browser, started_at + interval '1 second',
            last_used_at, expires_at, ends_at from sessions, generate_series(1, 49) where session_id = $1`,
    [idOf(oldest)],
  );
  expect(await list(oldest)).toHaveLength(50);
  await service.sql(`update sessions set started_at = now() - interval '1 minute' where user_id = $1`, [
    account.userId,
  ]);
  await service.sql(`update sessions set started_at = now() - interval '1 hour' where session_id = $1`, [
    idOf(oldest),
  ]);
  const newest = await openSession(service, account);
  const left = idsIn(await list(newest));
  expect([left.length, left[0], left.includes(idOf(oldest))]).toEqual([50, idOf(newest), false]);
  expectFailure(await use(oldest), 401);
});

test('a use is noted at most once in five minutes, whichever process it reaches', async () => {
  const account = await registerAccount(service, 'used@example.com');
  const cookie = await openSession(service, account);
  await rest(cookie, '1 hour');
  const before = await rowOf(cookie);
  const elsewhere = await startProcess(service.env, 'api');
  expectSuccess(await use(cookie, elsewhere), 200);
  await until('noted', async () => (await rowOf(cookie)).xmin !== before.xmin);
  const [shown] = await list(cookie);
  expect(Math.abs(Date.parse(shown!.lastUsedAt) - Date.now())).toBeLessThan(60_000);
  const noted = await rowOf(cookie);
  for (const at of [service, elsewhere, service]) expectSuccess(await use(cookie, at), 200);
  expect(await rowOf(cookie)).toEqual(noted);
  await rest(cookie, '4 minutes');
  const recent = await rowOf(cookie);
  const later = await startProcess(service.env, 'api');
  for (let n = 0; n < 3; n += 1) expectSuccess(await use(cookie, later), 200);
  expect(await rowOf(cookie)).toEqual(recent);
  await Promise.all([stopProcess(elsewhere), stopProcess(later)]);
});

test('no response waits until a use is noted', async () => {
  const account = await registerAccount(service, 'not-waiting@example.com');
  const cookie = await openSession(service, account);
  await rest(cookie, '1 hour');
  let isLocked = true;
  const row = `from sessions where session_id = '${idOf(cookie)}' for update`;
  const locked = service
    .sql(`begin; select ${row}; select pg_sleep(1.5); commit`)
    .finally(() => (isLocked = false));
  await until('it is locked', async () => (await service.sql(`select ${row} skip locked`)).length === 0);
  expectSuccess(await use(cookie), 200);
  expect(isLocked).toBe(true);
  await locked;
  const isNoted = async () => {
    expectSuccess(await use(cookie), 200);
    return Date.now() - ((await rowOf(cookie)).last_used_at as Date).getTime() < 60_000;
  };
  await until('it is noted afterwards', isNoted);
});
