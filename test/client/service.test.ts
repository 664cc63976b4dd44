import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createClient, createOperatorClient, verify, type Client } from '../../src/client/index.js';
import { registerAccount, sampleOrder, type Account } from '../support/client.js';
import { operatorToken } from '../support/process.js';
import { startReceiver, type Receiver } from '../support/receiver.js';
import { sharedService, type SharedService } from '../support/shared-service.js';

let service: SharedService;
let receiver: Receiver;
let account: Account;
let client: Client;

const clientWith = (options: object = {}) =>
  createClient({
    url: service.url,
    key: account.accountKey,
    email: account.email,
    password: account.password,
    ...options,
  });

beforeAll(async () => {
  service = await sharedService();
  receiver = await startReceiver();
  account = await registerAccount(service);
  client = clientWith();
});
afterAll(() => receiver?.close());

test('an order with lost responses is sent again and is one shipment', async () => {
  let lost = 0;
  /** The service responds; the response is lost. */
  const fetch: typeof globalThis.fetch = async (...request) => {
    const response = await globalThis.fetch(...request);
    if (response.status !== 201 || lost === 2) return response;
    await response.text();
    lost += 1;
    throw new TypeError('fetch failed', { cause: { code: 'ECONNRESET' } });
  };
  const order = { ...sampleOrder(), shipperTrackingId: 'LOST-ANSWERS' };
  const { trackingId } = await clientWith({ fetch }).shipments.create(order);
  expect(lost).toBe(2);
  const rows = await service.sql<{ tracking_id: string }>(
    `select tracking_id from shipments where shipper_tracking_id = 'LOST-ANSWERS'`,
  );
  expect(rows).toEqual([{ tracking_id: trackingId }]);
});

test('a revoked token is replaced', async () => {
  await client.egress();
  const operator = createOperatorClient({ url: service.url, token: operatorToken });
  const path = { userId: account.userId };
  await operator.request('post', '/operator/v1/users/{userId}/sign-out', { path });
  const { tokens, fetch } = watchedTokens();
  const watched = clientWith({ fetch });
  await watched.egress();
  await operator.request('post', '/operator/v1/users/{userId}/sign-out', { path });
  expect(await watched.egress()).toEqual({ addresses: [] });
  expect(await client.egress()).toEqual({ addresses: [] });
  expect(new Set(tokens).size).toBe(2);
});

function watchedTokens() {
  const tokens: string[] = [];
  const fetch: typeof globalThis.fetch = (url, init) => {
    const { authorization = '' } = init!.headers as Record<string, string>;
    if (authorization.startsWith('Bearer')) tokens.push(authorization);
    return globalThis.fetch(url, init);
  };
  return { tokens, fetch };
}

test('a user makes a token for a program, which works with it until it is revoked', async () => {
  const { tokens } = client;
  const { token, tokenId } = await tokens.create({
    name: 'Shop',
    scopes: ['read'],
    expiresAt: new Date(4e12),
  });
  const program = createClient({ url: service.url, token, retries: 0 });
  expect(await program.egress()).toEqual({ addresses: [] });
  await expect(program.tokens.create({ name: 'Other', scopes: ['read'] })).rejects.toMatchObject({
    code: 'FORBIDDEN',
  });
  const listed: object[] = [];
  for await (const each of tokens.all({ limit: 1 })) listed.push(each);
  expect(listed).toMatchObject([{ tokenId, name: 'Shop', scopes: ['read'] }]);
  expect(await tokens.revoke(tokenId)).toEqual({ tokenId });
  await expect(tokens.revoke(tokenId)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  expect(await tokens.list()).toMatchObject({ tokens: [] });
});

test("notifications verify with the webhook's secret, with both during a rotation, and in no other form", async () => {
  const { webhookId, secret } = await client.webhooks.create({
    interests: ['*'],
    targetAddress: receiver.url,
  });
  const attempt = await client.webhooks.test(webhookId);
  expect(attempt).toMatchObject({ trigger: 'TEST', statusCode: 200 });
  const rotated = await client.webhooks.rotateSecret(webhookId);
  await client.webhooks.test(webhookId, { state: 'DELIVERED' });
  const [first, second] = await receiver.waitFor(2);
  expect(verify(first!.headers, first!.body, secret)).toMatchObject({ tracking_id: 'TEST' });
  for (const one of [secret, rotated.secret, [rotated.secret, secret]])
    expect(verify(second!.headers, second!.body, one)).toMatchObject({ state: 'DELIVERED' });
  expect(() => verify(first!.headers, first!.body, rotated.secret)).toThrow(/no signature matches/);
  expect(() => verify(second!.headers, first!.body, secret)).toThrow(/no signature matches/);
  expect(await client.webhooks.delete(webhookId)).toEqual({ webhookId });
});

test('a program declares its webhook at each start: the secret comes once, and what changed is changed', async () => {
  const own = await registerAccount(service);
  const { subscribe, webhooks } = clientWith({
    key: own.accountKey,
    email: own.email,
    password: own.password,
  });
  const given = { name: 'Lager Süd', interests: ['CREATED'], targetAddress: receiver.url };
  const started = await Promise.all([subscribe(given), subscribe(given)]);
  const secrets = started.flatMap(({ secret }) => secret ?? []);
  expect(secrets).toEqual([expect.stringMatching(/^whsec_/)]);
  const webhook = started.find(({ secret }) => secret === undefined)!;
  expect(await subscribe(given)).toEqual(webhook);
  await webhooks.update(webhook.webhookId, { status: 'PAUSED' });
  const changed = { interests: ['CREATED', 'DELIVERED'], description: 'x' };
  expect(await subscribe({ ...given, ...changed })).toMatchObject({ ...changed, status: 'PAUSED' });
  const wrong = { ...given, interests: ['delivered'], secret: 'x' };
  await expect(subscribe(wrong)).rejects.toMatchObject({
    code: 'INVALID_REQUEST',
    details: [{ path: 'interests[0]' }, { path: 'secret' }],
  });
  await expect(subscribe({ ...given, interests: ['LOSS'] })).rejects.toThrow(/did you mean LOST\?$/);
  const secret = secrets[0]!;
  expect(await subscribe({ ...given, secret })).toMatchObject({ webhookId: webhook.webhookId });
  await expect(subscribe({ ...given, secret: `whsec_${'A'.repeat(32)}` })).rejects.toMatchObject({
    code: 'CONFLICT',
    message: expect.stringContaining('rotate-secret'),
  });
  for (const name of ['', '.', '..']) await expect(subscribe({ ...given, name })).rejects.toThrow(TypeError);
});

test('lists are read page after page, each item once', async () => {
  const made = [];
  for (const name of ['a', 'b', 'c']) {
    const targetAddress = `${receiver.url}/${name}`;
    made.push(await client.webhooks.create({ interests: ['LOST'], targetAddress, status: 'PAUSED' }));
  }
  const seen = [];
  for await (const { webhookId } of client.webhooks.all({ limit: 2 })) seen.push(webhookId);
  expect(seen).toEqual(made.map(({ webhookId }) => webhookId));
  await client.webhooks.update(seen[0]!, { description: 'first' });
  expect(await client.webhooks.get(seen[0]!)).toMatchObject({
    description: 'first',
    health: { pendingCount: 0 },
  });
});

test('a refusal has its code, every wrong field and its request id', async () => {
  const wrong = {
    ...sampleOrder(),
    shipperDropoffDate: 'soon',
    package: { ...sampleOrder().package, weight: 0 },
  };
  await expect(client.shipments.create(wrong)).rejects.toMatchObject({
    status: 400,
    code: 'INVALID_REQUEST',
    requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    details: [
      { path: 'shipperDropoffDate', message: expect.stringContaining('valid time') },
      { path: 'package.weight', message: 'must be greater than 0' },
    ],
  });
  await expect(clientWith({ password: 'not the one' }).egress()).rejects.toMatchObject({
    code: 'UNAUTHORIZED',
  });
  await expect(client.deliveries.get('none')).rejects.toMatchObject({ code: 'NOT_FOUND', status: 404 });
});
