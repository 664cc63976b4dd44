import { beforeAll, describe, expect, test } from '@jest/globals';
import type { OpenApiDocument } from '../../../src/http/openapi/schemas.js';
import {
  callAsPortal,
  fromPortal,
  operator,
  placeOrder,
  registerAccount,
  registerWebhook,
  request,
  type Account,
  type Request,
  openSession,
} from '../../support/client.js';
import { untilFound } from '../../support/deliveries.js';
import { expectFailure, expectSuccess, offsetForm } from '../../support/expect.js';
import { sharedService, type SharedService } from '../../support/shared-service.js';
import { until } from '../../support/until.js';

let service: SharedService;
let account: Account;
let webhookId: string;
let cookie: string;

beforeAll(async () => {
  service = await sharedService();
  account = await registerAccount(service);
  ({ webhookId } = await registerWebhook(account, 'http://127.0.0.1:9/', { headers: { 'X-Key': 'hidden' } }));
  cookie = await openPortal(await newLink());
});

async function newLink({ shipperId }: { shipperId: string } = account): Promise<string> {
  const response = await operator(service, `/shippers/${shipperId}/portal-link`, { method: 'POST' });
  expectSuccess(response, 201);
  expect(Object.keys(response.data)).toEqual(['url']);
  return response.data.url as string;
}

const submit = (link: string, headers: Record<string, string> = {}) =>
  request(`${service.url}/support`, {
    raw: new URL(link).searchParams.toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
  });

async function openPortal(link: string): Promise<string> {
  const response = await submit(link, { 'sec-fetch-site': 'same-origin' });
  expect(response.httpStatus).toBe(200);
  return response.headers.get('set-cookie')!.split(';')[0]!;
}

const asSupport = (path: string, options: Request = {}, own = cookie) =>
  callAsPortal(service, own, path, options);
const sessionOf = async (own: string) => (await asSupport('/v1/session', {}, own)).data;

describe('the link', () => {
  test('is not used up by what looks at it, and opens the portal once, for an hour', async () => {
    const link = await newLink();
    expect(link).toMatch(new RegExp(`^${service.url}/support\\?token=[\\w-]{43}$`));
    for (const method of ['GET', 'HEAD', 'GET']) {
      const page = await request(link, { method });
      expect(page.httpStatus).toBe(200);
      expect([page.headers.get('cache-control'), page.headers.get('set-cookie')]).toEqual(['no-store', null]);
    }
    expect((await submit(link, { 'sec-fetch-site': 'cross-site' })).httpStatus).toBe(400);
    const opened = await Promise.all([submit(link), submit(link), submit(link)]);
    expect(opened.map(({ httpStatus }) => httpStatus).sort()).toEqual([200, 404, 404]);
    const { headers } = opened.find(({ httpStatus }) => httpStatus === 200)!;
    expect(headers.get('set-cookie')).toMatch(
      /^parcelhook-session=support_[\w-]{43}; Path=\/; Max-Age=3600; HttpOnly; SameSite=Strict$/,
    );
    for (const response of [await request(link), await submit(link)]) {
      expect([response.httpStatus, response.headers.get('set-cookie')]).toEqual([404, null]);
    }
  });

  test('is void after a quarter of an hour, and for a shipper that is removed or never was', async () => {
    const leaving = await registerAccount(service, 'leaving@example.com');
    const [old, ofLeaving] = [await newLink(), await newLink(leaving)];
    await service.sql(
      `update support_links set expires_at = expires_at - interval '14 min' where shipper_id = $1`,
      [account.shipperId],
    );
    expect((await request(old)).httpStatus).toBe(200);
    await service.sql(
      `update support_links set expires_at = expires_at - interval '1 min' where shipper_id = $1`,
      [account.shipperId],
    );
    await operator(service, `/shippers/${leaving.shipperId}`, { method: 'DELETE' });
    for (const link of [old, ofLeaving, `${service.url}/support?token=${'x'.repeat(43)}`]) {
      expect((await request(link)).httpStatus).toBe(404);
      expect((await submit(link)).httpStatus).toBe(404);
    }
    for (const id of ['018f0000-0000-7000-8000-000000000000', 'x', leaving.shipperId])
      expectFailure(await operator(service, `/shippers/${id}/portal-link`, { method: 'POST' }), 404);
    for (const text of ['', '?token=', '?token=1&token=2'])
      expect((await request(`${service.url}/support${text}`)).httpStatus).toBe(404);
    expect((await request(`${service.url}/support`, { method: 'PUT' })).httpStatus).toBe(405);
  });

  test('and its session are stored as hashes only', async () => {
    const link = await newLink();
    const own = await openPortal(link);
    const secrets = [new URL(link).searchParams.get('token')!, own.split('=')[1]!];
    const rows = await service.sql<{ all: string }>('select l::text as all from support_links l');
    const log = JSON.stringify((await operator(service, '/audit?limit=250')).body);
    for (const secret of secrets) expect(JSON.stringify(rows) + log).not.toContain(secret);
  });
});

describe('the session', () => {
  test('shows the account as its users see it', async () => {
    expect(await sessionOf(cookie)).toEqual({
      user: null,
      shipper: { shipperId: account.shipperId, name: 'Shipper' },
      startedAt: expect.stringMatching(offsetForm),
      expiresAt: expect.stringMatching(offsetForm),
      lastsUntil: expect.stringMatching(offsetForm),
      features: { simulate: true, email: false },
      readOnly: true,
    });
    const ofUser = await account.call(`/v1/webhooks/${webhookId}`);
    const { data } = await asSupport(`/v1/webhooks/${webhookId}`);
    expect(data).toEqual(ofUser.data);
    expect(data).toMatchObject({ headers: { 'X-Key': '••••' } });
    const other = await registerAccount(service, 'other@example.com');
    const { webhookId: ofOther } = await registerWebhook(other, 'http://127.0.0.1:9/');
    expectFailure(await asSupport(`/v1/webhooks/${ofOther}`), 404);
    expectFailure(await asSupport(`/v1/webhooks?key=${account.accountKey}`), 401);
    expectFailure(await request(`${service.url}/v1/webhooks`, { headers: { cookie } }), 403);
    const bearer = `Bearer ${cookie.split('=')[1]}`;
    expectFailure(
      await request(`${service.url}/v1/webhooks?key=${account.accountKey}`, {
        headers: { authorization: bearer },
      }),
      401,
    );
  });

  test('can change nothing: every other method of every endpoint is 403 and says why', async () => {
    const { paths } = (await (await fetch(`${service.url}/openapi.json`)).json()) as OpenApiDocument;
    const own = Object.entries(paths).filter(
      ([path]) =>
        path.startsWith('/v1/') && !['/v1/session', '/v1/login', '/v1/password-link'].includes(path),
    );
    const before = await account.call('/v1/webhooks');
    let refused = 0;
    for (const [path, operations] of own)
      for (const method of Object.keys(operations).map((name) => name.toUpperCase())) {
        const filled = path.replace('{webhookId}', webhookId).replace(/\{\w+\}/g, 'x');
        const { httpStatus, body } = await asSupport(filled, {
          method,
          ...(method !== 'GET' && { body: {} }),
        });
        if (method === 'GET') expect([path, httpStatus]).not.toEqual([path, 403]);
        else {
          expect({ path, method, httpStatus, message: body.error.message }).toEqual({
            path,
            method,
            httpStatus: 403,
            message: expect.stringContaining('It is read-only'),
          });
          refused += 1;
        }
      }
    expect(refused).toBeGreaterThan(13);
    expect((await account.call('/v1/webhooks')).data).toEqual(before.data);
  });

  test('is in the audit log, as are the deliveries and the orders that it reads, and the shipper’s users see it', async () => {
    const own = await registerAccount(service, 'seen@example.com');
    const ofUser = await openSession(service, own);
    expect(await sessionOf(ofUser)).not.toHaveProperty('supportOpenedAt');
    const { webhookId: hookId } = await registerWebhook(own, 'http://127.0.0.1:9/');
    await own.call(`/v1/webhooks/${hookId}`, { method: 'PATCH', body: { status: 'PAUSED' } });
    const deliveryId = await aDelivery(own);
    const opened = await openPortal(await newLink(own));
    expectSuccess(await asSupport(`/v1/deliveries/${deliveryId}`, {}, opened), 200);
    const trackingId = await placeOrder(own);
    const { shipmentId } = (await asSupport(`/v1/shipments/${trackingId}`, {}, opened)).data;
    expectFailure(await asSupport('/v1/shipments/NONE', {}, opened), 404);
    const actor = { kind: 'OPERATOR', name: 'operator' };
    const { data } = await operator(service, `/audit?shipperId=${own.shipperId}&limit=4`);
    expect(data.entries).toMatchObject([
      { action: 'ORDER_READ', actor, shipmentId },
      { action: 'DELIVERY_READ', actor, webhookId: hookId },
      { action: 'SUPPORT_LINK_OPENED', actor },
      { action: 'SUPPORT_LINK_CREATED', actor },
    ]);
    const { supportOpenedAt } = await sessionOf(ofUser);
    expect(Math.abs(Date.parse(supportOpenedAt as string) - Date.now())).toBeLessThan(60_000);
  });

  test('ends by a log-out, after its hour, and rests while the shipper is suspended', async () => {
    const own = await registerAccount(service, 'ending@example.com');
    const [left, late] = [await openPortal(await newLink(own)), await openPortal(await newLink(own))];
    expectSuccess(await asSupport('/v1/session', { method: 'DELETE' }, left), 200);
    expect(await sessionOf(left)).toBeNull();
    expectFailure(await asSupport('/v1/webhooks', {}, left), 401);
    const suspend = (status: string) =>
      operator(service, `/shippers/${own.shipperId}`, { method: 'PATCH', body: { status } });
    await suspend('SUSPENDED');
    expectFailure(await asSupport('/v1/webhooks', {}, late), 403);
    expect(await sessionOf(late)).toBeNull();
    await suspend('ACTIVE');
    expectSuccess(await asSupport('/v1/webhooks', {}, late), 200);
    await service.sql(
      `update support_links set ends_at = ends_at - interval '1 hour' where shipper_id = $1 and ends_at > now()`,
      [own.shipperId],
    );
    await until('the session has ended', async () => (await sessionOf(late)) === null, 10_000);
    expectFailure(await asSupport('/v1/webhooks', {}, late), 401);
  });

  test('gives way to a user who logs in over it', async () => {
    const own = await openPortal(await newLink());
    const { accountKey: key, email, password } = account;
    const headers = { ...fromPortal, cookie: own };
    expectSuccess(
      await request(`${service.url}/v1/session`, { body: { key, email, password }, headers }),
      201,
    );
    expect(await sessionOf(own)).toBeNull();
  });
});

async function aDelivery(of: Account): Promise<string> {
  await placeOrder(of);
  const { deliveryId } = await untilFound(
    async () => ((await of.call('/v1/deliveries')).data.deliveries as { deliveryId: string }[])[0],
  );
  return deliveryId;
}
