/** Settings that change what a client sees, and the defaults with an external database. */
import { afterAll, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import type { OpenApiDocument } from '../../src/http/openapi/schemas.js';
import {
  basic,
  logInToPortal,
  operator,
  placeOrder,
  registerAccount,
  request,
  sampleOrder,
} from '../support/client.js';
import { startServiceWith } from '../support/harness.js';
import { expectFailure, expectSuccess, expectWrong } from '../support/expect.js';
import { corpusRows } from '../support/ssrf-corpus.js';

const service = await startServiceWith(
  {
    PUBLIC_URL: ' https://Hooks.example.org:443// ',
    METRICS_PORT: '0',
    ORDER_CHECKS: 'lenient',
    TOKEN_TTL: '30m',
    TRUST_PROXY: '10.0.0.0/8',
    LOGIN_LIMIT_IP: '2',
    ALLOW_PRIVATE_TARGETS: '',
    ALLOW_HTTP_TARGETS: '',
    WEBHOOKS_PER_SHIPPER: '2',
  },
  'api',
);
const account = await registerAccount(service);
afterAll(() => service.stop());

const register = (targetAddress: string, by = account) =>
  by.call('/v1/webhooks', { body: { interests: ['CREATED'], targetAddress } });

test('PUBLIC_URL is the server in the document, and where password links lead; METRICS_PORT takes metrics away', async () => {
  const response = await fetch(`${service.url}/openapi.json`);
  const { servers, paths } = (await response.json()) as OpenApiDocument;
  expect(servers).toEqual([{ url: 'https://hooks.example.org' }]);
  expect(paths).not.toHaveProperty('/metrics');
  const link = await operator(service, `/users/${account.userId}/password-link`, { method: 'POST' });
  expect(link.data.setPasswordUrl).toMatch(/^https:\/\/hooks\.example\.org\/set-password\?token=[\w-]{43}$/);
});

test('TOKEN_TTL is the lifetime of tokens and of sessions', async () => {
  expect(decodeJwt(account.token).exp! - decodeJwt(account.token).iat!).toBe(1_800);
  const { data } = await account.call('/v1/login', {
    headers: { authorization: basic(account.email, account.password) },
  });
  expect(data.expiresIn).toBe('1800');
  const session = await logInToPortal(service, account);
  expect(session.headers.get('set-cookie')).toContain('Max-Age=1800;');
});

test('without SIMULATE no journey is simulated', async () => {
  const trackingId = await placeOrder(account);
  expectFailure(await account.call(`/v1/shipments/${trackingId}/simulate`, { method: 'POST' }), 404);
});

test('ORDER_CHECKS=lenient takes any text for currency, units, country and e-mail, and any dates', async () => {
  const { recipientLocation, recipientInformation, package: parcel, ...sample } = sampleOrder();
  const order = (changes: object, ofRecipient: object) =>
    account.call('/v1/shipments', {
      body: {
        ...sample,
        expectedDeliveryDate: '2026-11-01T00:00:00Z',
        recipientLocation: { ...recipientLocation, country: 'Mexico' },
        recipientInformation: { ...recipientInformation, ...ofRecipient },
        package: { ...parcel, ...changes },
      },
    });
  const lenient = { valueCurrency: 'points', weightUnit: 'stone', dimensionsUnit: 'ft' };
  const response = await order(lenient, { email: 'nope' });
  expectSuccess(response, 201);
  expect(response.data.package).toMatchObject(lenient);
  expectWrong(await order({ valueCurrency: ' ' }, { email: ' ' }), ['package.valueCurrency']);
});

describe('the defaults with an external database', () => {
  test.each(['http://example.org/', 'https://127.0.0.1/', 'https://localhost/', 'https://[::1]/'])(
    '%s returns 400: neither http nor private addresses',
    async (url) => expectWrong(await register(url), ['targetAddress']),
  );

  test.each(['22', '8081', '1', '65535', '6379'])('port %s returns 400', async (port) => {
    expectWrong(await register(`https://example.org:${port}/`), ['targetAddress']);
  });

  test('ports 80, 443, 8080 and 8443 are accepted; WEBHOOKS_PER_SHIPPER is the limit', async () => {
    const another = await registerAccount(service);
    expectSuccess(await register('https://example.org:80/'), 201);
    expectSuccess(await register('https://example.org:443/'), 201);
    expectSuccess(await register('https://example.org:8080/', another), 201);
    expectSuccess(await register('https://example.org:8443/', another), 201);
    expectFailure(await register('https://example.org/'), 409);
    expectFailure(await register('https://example.org/', another), 409);
  });

  test('there is no inbox', async () => {
    for (const method of ['GET', 'PATCH', 'DELETE'])
      expectFailure(await account.call('/v1/inbox', { method }), 404);
    const document = await (await fetch(`${service.url}/openapi.json`)).text();
    expect(document).not.toContain('/v1/inbox');
  });
});

test('one in ten of the corpus of bad addresses returns 400 naming targetAddress, on create, update and both by name', async () => {
  const owner = await registerAccount(service);
  const { webhookId } = (await register('https://example.org/hook', owner)).data;
  const path = `/v1/webhooks/${String(webhookId)}`;
  for (const { url } of corpusRows('DENY_URL', 'DENY_IP').filter((_, index) => index % 10 === 0)) {
    const targetAddress = url.replace(/^http:/, 'https:'); // else refused for that alone
    expectWrong(await register(targetAddress, owner), ['targetAddress']);
    const update = { method: 'PATCH', body: { targetAddress } };
    expectWrong(await owner.call(path, update), ['targetAddress']);
    const declared = { method: 'PUT', body: { interests: ['*'], targetAddress } };
    expectWrong(await owner.call('/v1/webhooks/by-name/orders', declared), ['targetAddress']);
  }
  expect((await owner.call(path)).data.targetAddress).toBe('https://example.org/hook');
});

test('a Unicode host is stored and returned as punycode', async () => {
  const owner = await registerAccount(service);
  const created = await register('https://bücher.example.org/hook?a=b', owner);
  expectSuccess(created, 201);
  expect(created.data.targetAddress).toBe('https://xn--bcher-kva.example.org/hook?a=b');
  const updated = await owner.call(`/v1/webhooks/${String(created.data.webhookId)}`, {
    method: 'PATCH',
    body: { targetAddress: 'https://Straße.example.org/' },
  });
  expect(updated.data.targetAddress).toBe('https://xn--strae-oqa.example.org/');
});

// The last test, because this address must wait from then on.
test('X-Forwarded-For from an address that TRUST_PROXY does not name changes no limit', async () => {
  const logIn = (ip: string) =>
    request(`${service.url}/v1/login?key=ak_unknown`, {
      headers: { authorization: basic('nobody@example.com', 'wrong'), 'x-forwarded-for': ip },
    });
  for (const [ip, httpStatus] of [
    ['203.0.113.1', 401],
    ['203.0.113.2', 401],
    ['203.0.113.3', 429],
  ] as const)
    expectFailure(await logIn(ip), httpStatus);
});
