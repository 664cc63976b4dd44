import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { OpenApiDocument } from '../../../src/http/openapi/types.js';
import { registerAccount, type Account } from '../../support/client.js';
import { startService, type Service } from '../../support/harness.js';
import { expectFailure } from '../../support/expect.js';
import { bareCall } from '../documents/openapi-calls.js';
import { operationsOf, type Described } from '../../support/openapi.js';

let service: Service;
let account: Account;
let operations: Described[];

beforeAll(async () => {
  service = await startService();
  account = await registerAccount(service);
  const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as OpenApiDocument;
  operations = [...operationsOf(document).values()].filter(({ path }) => /^\/(operator\/)?v1\//.test(path));
});
afterAll(() => service?.stop());

test('an unknown query parameter returns 400 on every endpoint, and the response lists the known ones', async () => {
  expect(operations.length).toBeGreaterThan(20);
  for (const described of operations) {
    const response = await bareCall(service, account, described, 'lmit=1');
    expectFailure(response, 400);
    const detail = response.body.error.details?.find(({ path }) => path === 'lmit');
    const declared = (described.operation.parameters ?? []).filter(({ in: place }) => place === 'query');
    const named = ['key', ...declared.map(({ name }) => name)].join(', ');
    expect(detail?.message).toBe(`is not a parameter of this endpoint; it takes ${named}`);
  }
});

test('a query parameter that is given more than once returns 400 that says so, on every endpoint', async () => {
  for (const described of operations)
    for (const { name, in: place } of described.operation.parameters ?? []) {
      if (place !== 'query') continue;
      const response = await bareCall(service, account, described, `${name}=1&${name}=1`);
      expectFailure(response, 400);
      const details = response.body.error.details!.filter(({ path }) => path === name);
      expect(details).toEqual([{ path: name, message: 'is given more than once' }]);
    }
});

test.each(['__proto__=1', 'constructor=1', 'limit[]=1', '=', 'KEY=1', '%00', `${'n'.repeat(200)}=1`])(
  'so does %s',
  async (query) => {
    const response = await account.call(`/v1/webhooks?${query}`);
    expectFailure(response, 400);
    expect(response.body.error.details).toHaveLength(1);
  },
);

test('other errors are named in the same response', async () => {
  const response = await account.call('/v1/deliveries?limit=0&satus=FAILED&webhookid=x');
  expect(response.body.error.details?.map(({ path }) => path)).toEqual(['limit', 'satus', 'webhookid']);
});
