/** The private parts of a webhook: header values and, at rest, the query of its address. */
import { expect, test } from '@jest/globals';
import { registerAccount } from '../../support/client.js';
import { sharedService } from '../../support/shared-service.js';
import { expectFailure, expectSuccess, expectWrong } from '../../support/expect.js';

const service = await sharedService();
const account = await registerAccount(service);

const targetAddress = 'https://example.org/hook';
const unknownId = '018f0000-0000-7000-8000-000000000000';
const create = (fields: object) =>
  account.call('/v1/webhooks', { body: { interests: ['CREATED'], targetAddress, ...fields } });
const patch = (webhookId: unknown, body: object) =>
  account.call(`/v1/webhooks/${String(webhookId)}`, { method: 'PATCH', body });

test('header values are never shown, the address only to its owner; the database stores neither them nor its query in plain text', async () => {
  const address = `${targetAddress}?token=canary-query`;
  const created = await create({ targetAddress: address, headers: { 'X-Own': 'canary-value' } });
  const { webhookId } = created.data;
  const list = await account.call('/v1/webhooks?limit=250');
  const responses = [
    created,
    await account.call(`/v1/webhooks/${webhookId}`),
    await patch(webhookId, { description: 'x' }),
    {
      data: (list.data.webhooks as object[]).find(
        (each) => 'webhookId' in each && each.webhookId === webhookId,
      ),
    },
  ];
  for (const { data } of responses)
    expect(data).toMatchObject({ targetAddress: address, headers: { 'X-Own': '••••' } });
  expect(JSON.stringify(await service.sql('select webhooks::text from webhooks'))).not.toMatch(/canary/);
});

test('a header sent back masked keeps its value, whatever the case of its name; another is replaced', async () => {
  const { webhookId } = (await create({ headers: { 'X-A': '1', 'X-B': '2', 'X-C': '3' } })).data;
  const stored = async () => {
    const sql = 'select headers from webhooks where webhook_id = $1';
    return (await service.sql<{ headers: Record<string, string> }>(sql, [webhookId]))[0]!.headers;
  };
  const before = await stored();
  const response = await patch(webhookId, { headers: { 'x-a': '••••', 'X-B': 'new' }, status: 'ACTIVE' });
  expectSuccess(response, 200);
  expect(response.data.headers).toEqual({ 'x-a': '••••', 'X-B': '••••' });
  const after = await stored();
  expect(after['x-a']).toBe(before['X-A']);
  expect(after['X-B']).not.toBe(before['X-B']);
});

test('a masked value without a stored one returns 400 and changes nothing, on create too', async () => {
  const { webhookId } = (await create({ headers: { 'X-A': '1' } })).data;
  const headers = { 'X-A': '••••', 'X-B': '••••' };
  expectWrong(await patch(webhookId, { headers }), ['headers.X-B']);
  expect((await account.call(`/v1/webhooks/${webhookId}`)).data.headers).toEqual({ 'X-A': '••••' });
  expectWrong(await create({ headers: { 'X-A': '••••' } }), ['headers.X-A']);
  expectFailure(await patch(unknownId, { headers }), 404);
});

test('all wrong headers are named at once, including one whose value is not a string', async () => {
  expectWrong(await create({ headers: { 'X-A': '1', 'x-a': '2' } }), ['headers.x-a']);
  const headers = { a: 1, Host: 'x', 'X A': 'y', 'X-B': 'é', 'X-C': 'well' };
  const paths = ['headers.a', 'headers.Host', 'headers.X A', 'headers.X-B'];
  expectWrong(await create({ headers, status: 'NONE' }), [...paths, 'status']);
  expectWrong(await patch(unknownId, { headers }), paths);
});
