import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { OpenApiDocument } from '../../src/http/openapi/types.js';
import { registerAccount, type Account } from '../client.js';
import { startService, type Service } from '../harness.js';
import { expectFailure } from './expect.js';
import { bareCall } from './openapi-calls.js';
import { operationsOf, type Described } from './openapi-support.js';

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

test('an unknown query parameter is 400 on every endpoint, and the answer names those there are', async () => {
  expect(operations.length).toBeGreaterThan(20);
  for (const described of operations) {
    const answer = await bareCall(service, account, described, 'lmit=1');
    expectFailure(answer, 400);
    const detail = answer.body.error.details?.find(({ path }) => path === 'lmit');
    const declared = (described.operation.parameters ?? []).filter(({ in: place }) => place === 'query');
    const named = ['key', ...declared.map(({ name }) => name)].join(', ');
    expect(detail?.message).toBe(`is not a parameter of this endpoint; it takes ${named}`);
  }
});

test.each(['__proto__=1', 'constructor=1', 'limit[]=1', '=', 'KEY=1', '%00', `${'n'.repeat(200)}=1`])(
  'so is %s',
  async (query) => {
    const answer = await account.call(`/v1/webhooks?${query}`);
    expectFailure(answer, 400);
    expect(answer.body.error.details).toHaveLength(1);
  },
);

test('what is wrong besides is named in the same answer', async () => {
  const answer = await account.call('/v1/deliveries?limit=0&satus=FAILED&webhookid=x');
  expect(answer.body.error.details?.map(({ path }) => path)).toEqual(['limit', 'satus', 'webhookid']);
});
