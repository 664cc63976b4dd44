import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { basic, registerAccount, request, type Account } from '../../support/client.js';
import { startService, type Service } from '../../support/harness.js';
import { expectFailure } from '../../support/expect.js';

let service: Service;
let account: Account;

beforeAll(async () => {
  service = await startService();
  account = await registerAccount(service);
});
afterAll(() => service?.stop());

const missingKey = 'The query parameter `key` is missing.';
const bearerForm = '`Authorization: Bearer <token>`';
const basicForm = '`Authorization: Basic <Base64 of e-mail:password>`';
const missing = `The Authorization header is missing: expected ${bearerForm}.`;
const wrong = 'The key or the token is not valid, or the token has expired: log in again.';
const wrongLogin = 'The key, the e-mail address or the password is wrong.';
const encoded = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;

test.each<[string, string, string | undefined, string]>([
  ['/v1/webhooks', '', undefined, `${missingKey} ${missing}`],
  ['/v1/webhooks', 'key=K', undefined, missing],
  ['/v1/webhooks', '', 'TOKEN', missingKey],
  ['/v1/webhooks', 'key=', 'TOKEN', missingKey],
  ['/v1/webhooks', 'key=K&key=K', 'TOKEN', 'The query parameter `key` is given more than once.'],
  ['/v1/webhooks', 'key=K', 'Bearer', `The Authorization header is malformed: expected ${bearerForm}.`],
  ['/v1/webhooks', 'key=K', 'abc', `The Authorization header is malformed: expected ${bearerForm}.`],
  ['/v1/webhooks', 'key=K', 'BASIC', `Expected ${bearerForm}, got Basic.`],
  ['/v1/login', 'key=K', undefined, `The Authorization header is missing: expected ${basicForm}.`],
  ['/v1/login', 'key=K', 'TOKEN', `Expected ${basicForm}, got Bearer.`],
  [
    '/v1/login',
    'key=K',
    encoded('no colon'),
    `The Authorization header is malformed: expected ${basicForm}.`,
  ],
  ['/operator/v1/status', '', undefined, missing],
  ['/operator/v1/status', '', 'BASIC', `Expected ${bearerForm}, got Basic.`],
  ['/v1/webhooks', 'key=wrong', 'TOKEN', wrong],
  ['/v1/webhooks', 'key=K', 'Bearer wrong', wrong],
  ['/v1/login', 'key=wrong', 'BASIC', wrongLogin],
  ['/v1/login', 'key=K', encoded('user@example.com:wrong'), wrongLogin],
  ['/v1/login', 'key=K', encoded('nobody@example.com:wrong'), wrongLogin],
  ['/operator/v1/status', '', 'Bearer wrong', 'The operator token is not valid.'],
])('%s?%s with %s: 401 says "%s"', async (path, query, header, message) => {
  const own: Record<string, string> = {
    TOKEN: `Bearer ${account.token}`,
    BASIC: basic(account.email, account.password),
  };
  const authorization = header === undefined ? undefined : (own[header] ?? header);
  const url = `${service.url}${path}?${query.replaceAll('=K', `=${account.accountKey}`)}`;
  const response = await request(url, { headers: { ...(authorization && { authorization }) } });
  expectFailure(response, 401);
  expect(response.body.error.message).toBe(message);
});
