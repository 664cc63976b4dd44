import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { placeOrder, registerAccount, registerWebhook, request, type Account } from '../support/client.js';
import { deliveriesOf, untilFound } from '../support/deliveries.js';
import { newFolder, type Folder } from '../support/deployment.js';
import { expectFailure, expectSuccess, expectWrong } from '../support/expect.js';
import { operatorToken, startProcess, stopProcess, type RunningProcess } from '../support/harness.js';
import { sharedService } from '../support/shared-service.js';

/** Embedded, on a loopback address. */
let service: RunningProcess;
let folder: Folder;
let accounts = 0;

const startEmbedded = (dataDir: string, env: Record<string, string> = {}) =>
  startProcess({
    DATA_DIR: dataDir,
    PORT: '0',
    OPERATOR_TOKEN: operatorToken,
    RETRY_SCHEDULE: '1h',
    DELIVERY_TIMEOUT: '2s',
    ...env,
  });

beforeAll(async () => {
  folder = newFolder();
  service = await startEmbedded(folder.path);
});
afterAll(async () => {
  if (service) await stopProcess(service);
  folder?.remove();
});

interface Shown {
  address: string;
  fail: string | null;
  failuresLeft: number | null;
  total: number;
  items: {
    itemId: string;
    headers: Record<string, string>;
    body: string;
    verified: boolean;
    problem: string | null;
    answered: string;
  }[];
}

const newAccount = () => registerAccount(service, `user${(accounts += 1)}@example.com`);
const inboxOf = async (account: Account, query = ''): Promise<Shown> => {
  const response = await account.call(`/v1/inbox${query}`);
  expectSuccess(response, 200);
  return response.data as unknown as Shown;
};
const untilArrived = (account: Account, count = 1) =>
  untilFound(async () => {
    const inbox = await inboxOf(account);
    return inbox.total >= count && inbox;
  });
const setFail = async (account: Account, body: object) =>
  expectSuccess(await account.call('/v1/inbox', { method: 'PATCH', body }), 200);
const firstAttempt = (account: Account, webhookId: string) =>
  untilFound(async () => {
    const [delivery] = await deliveriesOf(account, webhookId);
    return delivery?.lastAttempt as { statusCode: number | null; errorCode: string | null } | null;
  });

test('a notification to the inbox arrives verified, is logged as delivered, and is shown as it came', async () => {
  const account = await newAccount();
  const { address } = await inboxOf(account);
  const { webhookId } = await registerWebhook(account, address, { headers: { 'X-Planted': 'a secret' } });
  const trackingId = await placeOrder(account);
  const { items } = await untilArrived(account);
  expect(items).toHaveLength(1);
  expect(items[0]).toMatchObject({ verified: true, problem: null, answered: '200' });
  expect(JSON.parse(items[0]!.body)).toMatchObject({ tracking_id: trackingId, state: 'CREATED' });
  expect(items[0]!.headers).toMatchObject({ 'parcelhook-attempt': '1', 'x-planted': '••••' });
  expect(await firstAttempt(account, webhookId)).toMatchObject({ statusCode: 200, errorCode: null });
});

test('both secrets of a rotation verify', async () => {
  const account = await newAccount();
  const { webhookId } = await registerWebhook(account, (await inboxOf(account)).address);
  expectSuccess(await account.call(`/v1/webhooks/${webhookId}/rotate-secret`, { body: {} }), 200);
  expectSuccess(await account.call(`/v1/webhooks/${webhookId}/test`, { body: {} }), 200);
  expect((await untilArrived(account)).items[0]).toMatchObject({ verified: true });
});

test('a request that no secret of the shipper has signed is shown as not verified, with the reason', async () => {
  const account = await newAccount();
  const { address } = await inboxOf(account);
  await request(address, { body: { state: 'CREATED' } });
  const signed = {
    'webhook-id': 'one',
    'webhook-timestamp': String(Math.floor(Date.now() / 1_000)),
    'webhook-signature': 'v1,c29tZWJvZHkgZWxzZQ==',
    'parcelhook-attempt': '1',
  };
  await request(address, { body: {}, headers: signed });
  await registerWebhook(account, address);
  await request(address, { body: {}, headers: signed });
  await request(address, { body: {}, headers: { ...signed, 'webhook-timestamp': '1700000000' } });
  const { items } = await inboxOf(account);
  expect(items.map(({ verified }) => verified)).toEqual([false, false, false, false]);
  expect(items.map(({ problem }) => problem)).toEqual([
    expect.stringMatching(/^webhook-timestamp is \d+ s away/),
    expect.stringMatching(/^No signature matches/),
    expect.stringMatching(/^No webhook of yours/),
    expect.stringMatching(/webhook-id is missing/),
  ]);
});

describe('on demand it fails', () => {
  test('with a text, as the refusal of a number shows', async () => {
    const account = await newAccount();
    const { body } = await account.call('/v1/inbox', { method: 'PATCH', body: { fail: 500 } });
    expect(body.error.details).toEqual([
      { path: 'fail', message: 'must be one of "500", "TIMEOUT", "410", "RESET", or null' },
    ]);
  });

  test.concurrent.each([
    ['500', { statusCode: 500, errorCode: 'HTTP_STATUS' }, 'ACTIVE'],
    ['410', { statusCode: 410, errorCode: 'HTTP_STATUS' }, 'DISABLED'],
    ['RESET', { statusCode: null, errorCode: 'RESET' }, 'ACTIVE'],
    ['TIMEOUT', { statusCode: null, errorCode: 'TIMEOUT' }, 'ACTIVE'],
  ])('with %s, which the delivery log shows', async (fail, attempt, status) => {
    const account = await newAccount();
    const { webhookId } = await registerWebhook(account, (await inboxOf(account)).address);
    await setFail(account, { fail });
    await placeOrder(account);
    expect(await firstAttempt(account, webhookId)).toMatchObject(attempt);
    const { items } = await inboxOf(account);
    // A request that is reset on a connection that was used before is sent once more, on a new one.
    expect(items.length).toBeLessThanOrEqual(fail === 'RESET' ? 2 : 1);
    for (const item of items) expect(item).toMatchObject({ verified: true, answered: fail });
    await untilFound(async () => (await account.call(`/v1/webhooks/${webhookId}`)).data.status === status);
  });

  test('as often as is asked for, and until it is switched off', async () => {
    const account = await newAccount();
    const { address } = await inboxOf(account);
    const answers = async (count: number) => {
      const statuses: number[] = [];
      for (let n = 0; n < count; n += 1) statuses.push((await request(address, { body: {} })).httpStatus);
      return statuses;
    };
    await setFail(account, { fail: '500', times: 2 });
    expect(await inboxOf(account)).toMatchObject({ fail: '500', failuresLeft: 2 });
    expect(await answers(3)).toEqual([500, 500, 200]);
    expect(await inboxOf(account)).toMatchObject({ fail: null, failuresLeft: null });
    await setFail(account, { fail: '410' });
    expect(await answers(2)).toEqual([410, 410]);
    await setFail(account, { fail: null });
    expect(await answers(1)).toEqual([200]);
  });

  test('but holds at most twenty requests for their time-out, and ends them by itself', async () => {
    const account = await newAccount();
    const { address } = await inboxOf(account);
    await setFail(account, { fail: 'TIMEOUT' });
    const held = Array.from({ length: 20 }, () => request(address, { body: {} }).catch(() => 'ended'));
    await untilArrived(account, 20);
    expect((await request(address, { body: {} })).httpStatus).toBe(503);
    expect((await inboxOf(account)).items[0]).toMatchObject({ answered: '503' });
    expectSuccess(await account.call('/v1/webhooks'), 200);
    expect(new Set(await Promise.all(held))).toEqual(new Set(['ended']));
  });
});

test('it holds the newest hundred of at most 64 KiB each; `after` gives what is newer; it can be emptied', async () => {
  const account = await newAccount();
  const { address } = await inboxOf(account);
  for (let n = 1; n <= 101; n += 1) await request(address, { body: { n } });
  const before = await inboxOf(account);
  expect(before).toMatchObject({ total: 100 });
  expect(before.items.map(({ body }) => JSON.parse(body).n)).toEqual(
    Array.from({ length: 100 }, (_, index) => 101 - index),
  );
  expectFailure(await request(address, { body: { text: 'x'.repeat(64 * 1024) } }), 413);
  const newest = before.items[0]!.itemId;
  expect(await inboxOf(account, `?after=${newest}`)).toMatchObject({ total: 100, items: [] });
  await request(address, { body: { n: 102 } });
  const { items } = await inboxOf(account, `?after=${newest}`);
  expect(items.map(({ body }) => body)).toEqual(['{"n":102}']);
  const emptied = await account.call('/v1/inbox', { method: 'DELETE' });
  expect(emptied.data).toEqual({ removed: 100 });
  expect(await inboxOf(account, `?after=${newest}`)).toMatchObject({ total: 0, items: [] });
});

test('what is not valid returns 400 naming it', async () => {
  const account = await newAccount();
  const patch = (body: unknown) => account.call('/v1/inbox', { method: 'PATCH', body });
  expectWrong(await patch({}), ['fail']);
  expectWrong(await patch({ fail: '501', times: 0 }), ['fail', 'times']);
  expectWrong(await account.call('/v1/inbox?after=1'), ['after']);
});

test('nobody else sees or changes it', async () => {
  const [owner, intruder] = [await newAccount(), await newAccount()];
  const { address } = await inboxOf(owner);
  await request(address, { body: { owner: true } });
  expect(await inboxOf(intruder)).toMatchObject({ total: 0, items: [] });
  expect((await inboxOf(intruder)).address).not.toBe(address);
  for (const [method, body] of [
    ['GET', undefined],
    ['PATCH', { fail: '500' }],
    ['DELETE', undefined],
  ] as const) {
    const call = (key: string, token: string | null) =>
      request(`${service.url}/v1/inbox?key=${key}`, {
        method,
        ...(body && { body }),
        headers: token === null ? {} : { authorization: `Bearer ${token}` },
      });
    expectFailure(await call(owner.accountKey, intruder.token), 403);
    expectFailure(await call(intruder.accountKey, owner.token), 403);
    expectFailure(await call(owner.accountKey, null), 401);
    expectFailure(await call('ak_unknown', owner.token), 401);
    expectFailure(await call(owner.accountKey, operatorToken), 401);
  }
  await intruder.call('/v1/inbox', { method: 'DELETE' });
  await setFail(intruder, { fail: '500' });
  expect(await inboxOf(owner)).toMatchObject({ total: 1, fail: null });
});

describe('a webhook that points to the service itself', () => {
  test('is refused elsewhere, in development too: an inbox is the only path that takes notifications', async () => {
    const account = await newAccount();
    const { address } = await inboxOf(account);
    const { origin } = new URL(address);
    const forged = `${address.slice(0, -1)}${address.endsWith('A') ? 'B' : 'A'}`;
    const own = `http://localhost:${new URL(address).port}`;
    const create = (targetAddress: string) =>
      account.call('/v1/webhooks', { body: { interests: ['*'], targetAddress } });
    for (const target of [`${origin}/v1/webhooks`, `${origin}/inbox`])
      expectWrong(await create(target), ['targetAddress']);
    for (const target of [`${origin}/inbox/`, `${address}/x`, forged]) {
      const { webhookId } = await registerWebhook(account, target);
      const response = await account.call(`/v1/webhooks/${webhookId}/test`, { body: {} });
      expect(response.data).toMatchObject({ statusCode: 400, errorCode: 'HTTP_STATUS' });
      expect(response.data.responseBody).toContain('Parcelhook-Attempt');
    }
    expectWrong(await create(`${own}/v1/shipments`), ['targetAddress']);
    expectSuccess(await create(`${own}${new URL(address).pathname}`), 201);
    expect((await inboxOf(account)).total).toBe(0);
  });

  test('no request or response of the inbox stands in the log', async () => {
    const account = await newAccount();
    const { address } = await inboxOf(account);
    await request(`${address}?planted=PlantedQuery`, { body: { planted: 'PlantedBody' } });
    const { headers } = await account.call('/v1/webhooks'); // this line is logged after those of the inbox
    const requestId = headers.get('x-request-id')!;
    await untilFound(() => Promise.resolve(service.output().includes(requestId)));
    for (const text of ['PlantedBody', 'PlantedQuery', new URL(address).pathname])
      expect({ text, found: service.output().includes(text) }).toEqual({ text, found: false });
  });
});

describe('in production', () => {
  const expectNoInbox = async (url: string) => {
    const account = await registerAccount({ url }, 'production@example.com');
    const { pathname } = new URL((await inboxOf(await newAccount())).address);
    for (const method of ['GET', 'PATCH', 'DELETE'])
      expectFailure(await account.call('/v1/inbox', { method }), 404);
    expect((await request(`${url}${pathname}`, { body: {} })).httpStatus).toBe(405);
    const headers = { 'Parcelhook-Attempt': '1' };
    expectWrong(await request(`${url}${pathname}`, { body: {}, headers }), ['Parcelhook-Attempt']);
    const document = await request(`${url}/openapi.json`);
    expect(JSON.stringify(document.body)).not.toContain('/v1/inbox');
  };

  test('with an external database there is no inbox', async () => {
    await expectNoInbox((await sharedService()).url);
  });

  test('on an address that other machines reach there is none either', async () => {
    const other = newFolder();
    const open = await startEmbedded(other.path, { HOST: '0.0.0.0' });
    await expectNoInbox(open.url);
    await stopProcess(open);
    other.remove();
  });

  test('in development the document has it', async () => {
    const document = await request(`${service.url}/openapi.json`);
    expect(Object.keys((document.body as any).paths['/v1/inbox'])).toEqual(['get', 'patch', 'delete']);
    expect((await request(`${service.url}/docs`)).body).toMatchObject({
      text: expect.stringContaining('/v1/inbox'),
    });
  });
});
