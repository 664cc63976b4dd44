import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { registerAccount, type Account } from '../../support/client.js';
import { startService, type Service } from '../../support/harness.js';
import { corpusRows } from '../../support/ssrf-corpus.js';
import { expectFailure, expectSuccess, expectWrong } from '../../support/expect.js';

/** Private targets are not allowed, as in production. */
let service: Service;
let account: Account;

beforeAll(async () => {
  service = await startService({
    env: { ALLOW_PRIVATE_TARGETS: 'false', WEBHOOKS_PER_SHIPPER: '100000' },
  });
  account = await registerAccount(service);
});
afterAll(() => service?.stop());

const register = (targetAddress: string, by = account) =>
  by.call('/v1/webhooks', { body: { interests: ['CREATED'], targetAddress } });

describe('the corpus of bad addresses, over HTTP', () => {
  test('every address to be refused returns 400 naming targetAddress, on create and update', async () => {
    const { webhookId } = (await register('https://example.org/hook')).data;
    for (const { id, url } of corpusRows('DENY_URL', 'DENY_IP')) {
      const created = await register(url);
      const updated = await account.call(`/v1/webhooks/${String(webhookId)}`, {
        method: 'PATCH',
        body: { targetAddress: url },
      });
      expect({ id, url, statuses: [created.httpStatus, updated.httpStatus] }).toEqual({
        id,
        url,
        statuses: [400, 400],
      });
      expectWrong(created, ['targetAddress']);
      expectWrong(updated, ['targetAddress']);
    }
    const { data } = await account.call(`/v1/webhooks/${String(webhookId)}`);
    expect(data.targetAddress).toBe('https://example.org/hook');
  });

  test('every valid address is registered and returned as written', async () => {
    for (const { id, url } of corpusRows('ALLOW', 'DENY_DNS')) {
      const response = await register(url);
      expect({ id, httpStatus: response.httpStatus }).toEqual({ id, httpStatus: 201 });
      expect(response.data.targetAddress).toBe(url);
    }
  });
});

test('a Unicode host is stored and returned as punycode', async () => {
  const created = await register('https://bücher.example.org/hook?a=b');
  expectSuccess(created, 201);
  expect(created.data.targetAddress).toBe('https://xn--bcher-kva.example.org/hook?a=b');
  const updated = await account.call(`/v1/webhooks/${String(created.data.webhookId)}`, {
    method: 'PATCH',
    body: { targetAddress: 'https://Straße.example.org/' },
  });
  expect(updated.data.targetAddress).toBe('https://xn--strae-oqa.example.org/');
});

describe('the defaults with an external database', () => {
  let strict: Service;
  let owner: Account;
  beforeAll(async () => {
    strict = await startService({
      env: { ALLOW_PRIVATE_TARGETS: '', ALLOW_HTTP_TARGETS: '', WEBHOOKS_PER_SHIPPER: '2' },
    });
    owner = await registerAccount(strict);
  });
  afterAll(() => strict?.stop());

  test.each(['http://example.org/', 'https://127.0.0.1/', 'https://localhost/', 'https://[::1]/'])(
    '%s returns 400: neither http nor private addresses',
    async (url) => expectWrong(await register(url, owner), ['targetAddress']),
  );

  test.each(['22', '8081', '1', '65535', '6379'])('port %s returns 400', async (port) => {
    expectWrong(await register(`https://example.org:${port}/`, owner), ['targetAddress']);
  });

  test('ports 80, 443, 8080 and 8443 are accepted; the configured number of webhooks is the limit', async () => {
    const another = await registerAccount(strict);
    expectSuccess(await register('https://example.org:80/', owner), 201);
    expectSuccess(await register('https://example.org:443/', owner), 201);
    expectSuccess(await register('https://example.org:8080/', another), 201);
    expectSuccess(await register('https://example.org:8443/', another), 201);
    expectFailure(await register('https://example.org/', owner), 409);
    expectFailure(await register('https://example.org/', another), 409);
  });
});
