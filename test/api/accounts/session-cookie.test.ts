import { describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import {
  callAsPortal,
  fromPortal,
  logInToPortal,
  openSession,
  parseResponse,
  registerAccount,
  registerWebhook,
  request,
  sendRaw,
  type Request,
} from '../../support/client.js';
import { expectFailure, expectSuccess } from '../../support/expect.js';
import { sharedService } from '../../support/shared-service.js';

const service = await sharedService();
const account = await registerAccount(service);
const cookie = await openSession(service, account);

const asPortal = (path: string, options: Request = {}, own = cookie) =>
  callAsPortal(service, own, path, options);
const session = (own: string) => asPortal('/v1/session', {}, own);
const without = (name: keyof typeof fromPortal) =>
  Object.fromEntries(Object.entries(fromPortal).filter(([header]) => header !== name));
const tokenOf = (own: string) => own.slice(own.indexOf('=') + 1);

describe('with the cookie', () => {
  test('an Authorization header counts alone', async () => {
    const headers = { authorization: 'Bearer wrong' };
    expectFailure(await asPortal(`/v1/webhooks?key=${account.accountKey}`, { headers }), 401);
    expectFailure(await asPortal('/v1/webhooks', { headers: { authorization: '' } }), 401);
    expectFailure(
      await asPortal('/v1/webhooks', { headers: { authorization: `Bearer ${account.token}` } }),
      401,
    );
    // A program needs nothing of what a browser sends, whatever cookie comes along.
    for (const own of [cookie, 'parcelhook-session=x'])
      expectSuccess(await account.call('/v1/webhooks', { headers: { cookie: own } }), 200);
  });

  test('neither kind of token is accepted as the other', async () => {
    const bearer = { authorization: `Bearer ${tokenOf(cookie)}` };
    expectFailure(await account.call('/v1/webhooks', { headers: bearer }), 401);
    const own = `parcelhook-session=${account.token}`;
    expectFailure(await asPortal('/v1/webhooks', {}, own), 401);
    expect(decodeJwt(tokenOf(cookie)).aud).not.toBe(decodeJwt(account.token).aud);
  });

  test('the operator’s API does not take it', async () => {
    expectFailure(await asPortal('/operator/v1/status'), 401);
  });

  test.each<[string, (own: string) => string]>([
    ['two cookies of its name, both good', (own) => `${own}; ${own}`],
    ['a second one, empty', (own) => `${own}; parcelhook-session=`],
    ['a second one before it', (own) => `parcelhook-session=x; ${own}`],
    ['quotes around it', (own) => own.replace('=', '="').concat('"')],
    ['a space within', (own) => own.replace('.', ' .')],
    ['an encoded dot', (own) => own.replace('.', '%2E')],
    ['capitals in its name', (own) => own.replace('parcelhook', 'Parcelhook')],
    ['a prefix to its name', (own) => `__Host-${own}`],
    ['8 KB', () => `parcelhook-session=${'a'.repeat(8_000)}`],
    ['8 KB of semicolons before it, and one more', (own) => `${';'.repeat(8_000)}${own}; ${own}`],
    ['nothing but semicolons', () => ';;;; ; ;=;'],
    ['only its name', () => 'parcelhook-session'],
  ])('%s is 401', async (_, change) => {
    expectFailure(await asPortal('/v1/webhooks', {}, change(cookie)), 401);
    expect((await session(change(cookie))).data).toBeNull();
  });

  test('cookies of other names beside it change nothing', async () => {
    for (const own of [`theme=dark; ${cookie}`, `${cookie};x=y`, `xparcelhook-session=1; ${cookie}; a`])
      expectSuccess(await asPortal('/v1/webhooks', {}, own), 200);
  });

  test('control characters in it are refused before anything is read', async () => {
    for (const junk of ['\u0000', 'a\u0000b', '\u0001', '\u007f']) {
      const text = await sendRaw(
        service.url,
        `GET /v1/webhooks HTTP/1.1\r\nHost: x\r\nSec-Fetch-Site: same-origin\r\nCookie: parcelhook-session=${junk}\r\nConnection: close\r\n\r\n`,
      );
      expect([400, 401]).toContain(parseResponse(text).httpStatus);
    }
    expectSuccess(await session(cookie), 200);
  });
});

describe('a request that no page of the service made is 403 and does nothing', () => {
  const foreign = ['cross-site', 'same-site', 'none', 'Same-Origin', 'same-origin, same-origin', ''];
  const sites: [string, Record<string, string>][] = [
    ...foreign.map((site): [string, Record<string, string>] => [
      `Sec-Fetch-Site: ${site}`,
      { ...fromPortal, 'sec-fetch-site': site },
    ]),
    ['no Sec-Fetch-Site', without('sec-fetch-site')],
  ];
  const writes: [string, Record<string, string>][] = [
    ['no Parcelhook-Csrf', without('parcelhook-csrf')],
    ['Parcelhook-Csrf: 0', { ...fromPortal, 'parcelhook-csrf': '0' }],
    ['Parcelhook-Csrf: 1, 1', { ...fromPortal, 'parcelhook-csrf': '1, 1' }],
  ];
  const call = (path: string, options: Request, headers: Record<string, string>) =>
    request(`${service.url}${path}`, { ...options, headers: { cookie, ...headers } });
  const hook = { interests: ['*'], targetAddress: 'https://example.org/' };
  const rows = () =>
    service.sql('select w::text from webhooks w where shipper_id = $1 order by webhook_id', [
      account.shipperId,
    ]);

  test.each(sites)('%s: reading', async (_, headers) => {
    for (const path of ['/v1/webhooks', '/v1/events', '/v1/session'])
      for (const method of ['GET', 'HEAD'])
        expect((await call(path, { method }, headers)).httpStatus).toBe(403);
    const response = await call('/v1/webhooks', {}, headers);
    expectFailure(response, 403);
    expect(response.body.error.message).toContain('Sec-Fetch-Site');
  });

  test.each([...sites, ...writes])('%s: writing', async (_, headers) => {
    const { webhookId } = await registerWebhook(account, hook.targetAddress);
    const before = await rows();
    for (const [method, path, body] of [
      ['POST', '/v1/webhooks', hook],
      ['POST', '/v1/webhooks', 7],
      ['POST', `/v1/webhooks/${webhookId}/rotate-secret`],
      ['PATCH', `/v1/webhooks/${webhookId}`, { status: 'PAUSED' }],
      ['DELETE', `/v1/webhooks/${webhookId}`],
    ] as const)
      expectFailure(await call(path, { method, ...(body && { body }) }, headers), 403);
    expect(await rows()).toEqual(before);
    await account.call(`/v1/webhooks/${webhookId}`, { method: 'DELETE' });
  });

  test.each([...sites, ...writes])('%s: logging in and out', async (_, headers) => {
    const own = await openSession(service, account);
    const login = await logInToPortal(service, account, headers); // without a cookie, too
    expectFailure(login, 403);
    expect(login.headers.get('set-cookie')).toBeNull();
    const refused = await call('/v1/session', { method: 'DELETE' }, { ...headers, cookie: own });
    expectFailure(refused, 403);
    expect(refused.headers.get('set-cookie')).toBeNull();
    expect((await session(own)).data).not.toBeNull();
  });

  test('a form of another site can log nobody in', async () => {
    const { accountKey: key, email, password } = account;
    for (const type of ['text/plain', 'application/x-www-form-urlencoded']) {
      const response = await request(`${service.url}/v1/session`, {
        raw: JSON.stringify({ key, email, password }),
        headers: { 'content-type': type, 'sec-fetch-site': 'cross-site' },
      });
      expectFailure(response, 403);
    }
  });

  test('no origin may ask first: a preflight allows nothing', async () => {
    for (const path of ['/v1/session', '/v1/webhooks', '/v1/shipments']) {
      const headers = {
        origin: 'https://evil.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'parcelhook-csrf',
        cookie,
      };
      const preflight = await request(`${service.url}${path}`, { method: 'OPTIONS', headers });
      expectFailure(preflight, 405);
      const read = await asPortal(path, { headers: { origin: 'https://evil.example' } });
      for (const response of [preflight, read])
        for (const name of response.headers.keys()) expect(name).not.toMatch(/^access-control/);
    }
  });
});
