import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import {
  fromPortal,
  newProgram,
  openSession,
  placeOrder,
  registerAccount,
  registerWebhook,
  request,
  sampleOrder,
  type Account,
} from '../../support/client.js';
import { deliveriesOf, untilFound } from '../../support/deliveries.js';
import { sharedService, type SharedService } from '../../support/shared-service.js';
import { startReceiver, type Receiver } from '../../support/receiver.js';
import { expectFailure, expectSuccess, untilState } from '../../support/expect.js';
import { until } from '../../support/until.js';

let service: SharedService;
let owner: Account;
let intruder: Account;
let cookies: { owner: string; intruder: string };
let programs: { owner: string; intruder: string };
let receiver: Receiver;
let ids: {
  webhookId: string;
  trackingId: string;
  deliveryId: string;
  replayId: string;
  tokenId: string;
  sessionId: string;
};

beforeAll(async () => {
  service = await sharedService();
  owner = await registerAccount(service, 'owner@example.com');
  intruder = await registerAccount(service, 'intruder@example.com');
  cookies = { owner: await openSession(service, owner), intruder: await openSession(service, intruder) };
  const scopes = ['orders', 'webhooks', 'read'];
  const { token, tokenId } = await newProgram(service, owner, { scopes });
  programs = { owner: token, intruder: (await newProgram(service, intruder, { scopes })).token };
  receiver = await startReceiver();
  const { webhookId } = await registerWebhook(owner, receiver.url);
  const trackingId = await placeOrder(owner, 'OWNERS-SECRET-NUMBER');
  await untilState(owner, trackingId, 'CREATED');
  await receiver.waitFor(1);
  const log = await owner.call('/v1/deliveries');
  const range = { from: Date.now() - 60_000, to: Date.now() };
  const replay = await owner.call(`/v1/webhooks/${webhookId}/replay`, { body: range });
  const replayId = replay.data.replayId as string;
  await until(
    'the replay has ended',
    async () => (await owner.call(`/v1/replays/${replayId}`)).data.status === 'DONE',
  );
  await until('nothing is under way', async () => {
    const { data } = await owner.call('/v1/deliveries');
    return data.deliveries.every(({ status }: { status: string }) => status === 'SUCCEEDED');
  });
  const sessionId = decodeJwt(cookies.owner.split('=')[1]!).jti!;
  const { deliveryId } = log.data.deliveries[0] as { deliveryId: string };
  ids = { webhookId, trackingId, deliveryId, replayId, tokenId, sessionId };
});
// Only a replay that runs can be cancelled. A worker may end it, for a time so far ahead looks like a wrong clock.
beforeEach(async () => {
  await service.sql(
    `update replays set status = 'RUNNING', walked_at = null, finished_at = null, next_at = 'infinity'
      where replay_id = $1`,
    [ids.replayId],
  );
});
afterAll(async () => {
  await receiver?.close();
});

type Route = [method: string, path: (of: typeof ids) => string, body?: object | undefined];

const routes: Route[] = [
  ['GET', () => '/v1/webhooks'],
  ['POST', () => '/v1/webhooks', { interests: ['*'], targetAddress: 'https://example.org/' }],
  ['GET', ({ webhookId }) => `/v1/webhooks/${webhookId}`],
  ['PUT', () => '/v1/webhooks/by-name/orders', { interests: ['*'], targetAddress: 'https://example.org/' }],
  ['GET', ({ webhookId }) => `/v1/webhooks/${webhookId}/stats`],
  ['GET', () => '/v1/webhooks?include=health,stats'],
  ['PATCH', ({ webhookId }) => `/v1/webhooks/${webhookId}`, { status: 'PAUSED' }],
  ['DELETE', ({ webhookId }) => `/v1/webhooks/${webhookId}`],
  ['GET', () => '/v1/egress'],
  ['POST', () => '/v1/shipments', sampleOrder()],
  ['GET', () => '/v1/shipments'],
  ['GET', ({ trackingId }) => `/v1/shipments/${trackingId}`],
  ['POST', ({ trackingId }) => `/v1/shipments/${trackingId}/simulate`, { intervalMs: 3_600_000 }],
  ['POST', ({ trackingId }) => `/v1/shipments/${trackingId}/cancel`],
  ['GET', () => '/v1/states'],
  ['GET', ({ trackingId }) => `/v1/shipment-tracking/${trackingId}`],
  ['GET', () => '/v1/events'],
  ['GET', () => '/v1/deliveries'],
  ['GET', ({ deliveryId }) => `/v1/deliveries/${deliveryId}`],
  ['GET', ({ webhookId }) => `/v1/webhooks/${webhookId}/replays`],
  ['GET', ({ replayId }) => `/v1/replays/${replayId}`],
  ['POST', ({ replayId }) => `/v1/replays/${replayId}/cancel`],
  ['GET', () => '/v1/tokens'],
  ['POST', () => '/v1/tokens', { name: 'Planted', scopes: ['read'] }],
  ['DELETE', ({ tokenId }) => `/v1/tokens/${tokenId}`],
  ['GET', () => '/v1/users'],
  ['GET', () => '/v1/audit'],
  [
    'POST',
    () => '/v1/password',
    { currentPassword: 'correct horse battery', newPassword: 'planted password' },
  ],
  ['GET', () => '/v1/sessions'],
  ['DELETE', () => '/v1/sessions'],
  ['DELETE', ({ sessionId }) => `/v1/sessions/${sessionId}`],
];
const withIds = routes.filter(([, path]) => path.length > 0);
/** No program may call it: whatever it asks for is 403. */
const isForUsers = ([method, path]: Route) => method !== 'GET' && /^\/v1\/(tokens|sessions)/.test(path(ids));
const name = ([method, path]: Route) =>
  `${method} ${path({ webhookId: '{webhookId}', trackingId: '{trackingId}', deliveryId: '{deliveryId}', replayId: '{replayId}', tokenId: '{tokenId}', sessionId: '{sessionId}' })}`;
const sendWith = ([method, path, body]: Route, key: string | null, headers: Record<string, string>) =>
  request(
    `${service.url}${path(ids)}${key === null ? '' : `${path(ids).includes('?') ? '&' : '?'}key=${key}`}`,
    { method, ...(body && { body }), headers },
  );
const send = (one: Route, key: string | null, token: string | null) =>
  sendWith(one, key, token === null ? {} : { authorization: `Bearer ${token}` });
/** Sends it as the portal does, with its cookie. */
const sendCookie = (one: Route, key: string | null, cookie: string, headers = fromPortal) =>
  sendWith(one, key, { ...headers, cookie });
const everything = () =>
  service.sql(
    `with own as (select unnest($1::uuid[]) as shipper_id)
     select (select json_agg(w order by webhook_id) from webhooks w join own using (shipper_id))::text as webhooks,
            (select json_agg(u order by user_id) from users u join own using (shipper_id))::text as users,
            (select count(*) from shipments join own using (shipper_id)) as shipments,
            (select count(*) from events join own using (shipper_id)) as events,
            (select json_agg(token_id order by token_id) from program_tokens join own using (shipper_id))::text as tokens,
            (select count(*) from simulations join own using (shipper_id)) as simulations,
            (select json_agg((replay_id, status = 'CANCELLED')) from replays join own using (shipper_id))::text as replays,
            (select json_agg(d order by delivery_id) from deliveries d join own using (shipper_id))::text as deliveries`,
    [[owner.shipperId, intruder.shipperId]],
  );

describe.each(routes.map((one) => [name(one), one] as const))('%s', (_, one) => {
  test("a valid token with another shipper's key returns 403 and has no effect", async () => {
    const before = await everything();
    const response = await send(one, owner.accountKey, intruder.token);
    expectFailure(response, 403);
    expect(JSON.stringify(response.body)).not.toContain('OWNERS-SECRET-NUMBER');
    expectFailure(await send(one, intruder.accountKey, owner.token), 403);
    expectFailure(await send(one, owner.accountKey, programs.intruder), 403);
    expectFailure(await send(one, intruder.accountKey, programs.owner), 403);
    expect(await everything()).toEqual(before);
  });

  test('an unknown or missing key, or a missing or wrong token, returns 401 and has no effect', async () => {
    const before = await everything();
    for (const [key, token] of [
      ['ak_unknown', owner.token],
      [`${owner.accountKey}x`, owner.token],
      [owner.accountKey.toUpperCase(), owner.token],
      [owner.shipperId, owner.token],
      ['%00', owner.token],
      ['%ff', owner.token],
      [`${owner.accountKey}&key=${owner.accountKey}`, owner.token],
      ['', owner.token],
      [null, owner.token],
      [owner.accountKey, null],
      [owner.accountKey, `${owner.token}x`],
      [owner.accountKey, service.env.OPERATOR_TOKEN!],
      ['ak_unknown', programs.owner],
      ['', programs.owner],
      [owner.accountKey, `${programs.owner}x`],
      [null, programs.owner.slice(0, -1)],
    ] as const)
      expectFailure(await send(one, key, token), 401);
    expect(await everything()).toEqual(before);
  });

  test("a session with another shipper's key returns 403, one that is none or with a wrong key 401, and has no effect", async () => {
    const before = await everything();
    const response = await sendCookie(one, owner.accountKey, cookies.intruder);
    expectFailure(response, 403);
    expect(JSON.stringify(response.body)).not.toContain('OWNERS-SECRET-NUMBER');
    expectFailure(await sendCookie(one, intruder.accountKey, cookies.owner), 403);
    expectFailure(await sendCookie(one, null, `${cookies.owner}x`), 401);
    expectFailure(await sendCookie(one, null, `${cookies.owner}; ${cookies.intruder}`), 401);
    expectFailure(await sendCookie(one, null, cookies.owner.replace(/=.*/, `=${owner.token}`)), 401);
    for (const key of ['', 'ak_unknown', `${owner.accountKey}x`, owner.shipperId])
      expectFailure(await sendCookie(one, key, cookies.owner), 401);
    expect(await everything()).toEqual(before);
  });
});

describe.each(withIds.map((one) => [name(one), one] as const))('%s', (_, one) => {
  test("another shipper's id returns 404, exactly like an unknown id, and has no effect", async () => {
    const before = await everything();
    const response = await send(one, intruder.accountKey, intruder.token);
    expectFailure(response, 404);
    expect(JSON.stringify(response.body)).not.toContain('OWNERS-SECRET-NUMBER');
    const { userId } = owner;
    const unknown = {
      webhookId: userId,
      trackingId: 'PH1',
      deliveryId: userId,
      replayId: userId,
      tokenId: userId,
      sessionId: userId,
    };
    const ofNobody: Route = [one[0], () => one[1](unknown), one[2]];
    const nobodys = await send(ofNobody, intruder.accountKey, intruder.token);
    for (const other of [
      nobodys,
      await sendCookie(one, null, cookies.intruder),
      await sendCookie(ofNobody, null, cookies.intruder),
      ...(isForUsers(one)
        ? []
        : [await send(one, null, programs.intruder), await send(ofNobody, null, programs.intruder)]),
    ]) {
      expectFailure(other, 404);
      expect(other.body.error.message).toBe(response.body.error.message);
    }
    expect(await everything()).toEqual(before);
  });
});

test('lists show only the shipper’s own items, with a token or a session', async () => {
  for (const list of ['webhooks', 'deliveries', 'events', 'shipments']) {
    const one: Route = ['GET', () => `/v1/${list}`];
    expect((await send(one, null, programs.intruder)).data[list]).toEqual([]);
    expect((await send(one, null, programs.owner)).data[list]).not.toHaveLength(0);
    const items = async (cookie: string) =>
      (await sendCookie(['GET', () => `/v1/${list}`], null, cookie)).data[list] as unknown[];
    expect(await items(cookies.intruder)).toEqual([]);
    expect(await items(cookies.owner)).not.toHaveLength(0);
    expect((await intruder.call(`/v1/${list}`)).data[list]).toEqual([]);
  }
  expect((await intruder.call(`/v1/events?trackingId=${ids.trackingId}`)).data.events).toEqual([]);
  for (const list of ['deliveries', 'shipments']) {
    const path = `/v1/${list}?shipperTrackingId=OWNERS-SECRET-NUMBER`;
    expect((await intruder.call(path)).data[list]).toEqual([]);
    expect((await owner.call(path)).data[list]).toHaveLength(1);
  }
  expect((await owner.call('/v1/webhooks')).data.webhooks).toHaveLength(1);
});

test("a shipper's events reach no webhook of another shipper", async () => {
  const before = receiver.received.length;
  const trackingId = await placeOrder(intruder);
  await untilState(intruder, trackingId, 'CREATED');
  const ownTrackingId = await placeOrder(owner); // the witness
  await receiver.waitFor(before + 1);
  const later = receiver.received.slice(before);
  expect(later.map(({ notification }) => notification.tracking_id)).toEqual([ownTrackingId]);
});

test('no log line contains a path of a receiver or of nobody, what a receiver responds, a lot or a session', async () => {
  const account = await registerAccount(service, 'planted-mail@example.com');
  const hook = await startReceiver(() => ({ status: 500, body: 'PlantedResponse' }));
  const { webhookId, secret } = await registerWebhook(account, `${hook.url}/PlantedHook`);
  const body = { ...sampleOrder(), lotId: 'PlantedLot' };
  expectSuccess(await account.call('/v1/shipments', { body }), 201);
  expectFailure(await account.call('/v1/shipments', { body: { ...body, shipperTrackingId: 1 } }), 400);
  expectFailure(await account.call('/v1/shipments', { raw: JSON.stringify(body).slice(0, -1) }), 400);
  const cookie = await openSession(service, account);
  expectSuccess(await sendCookie(['GET', () => '/v1/session'], null, cookie), 200);
  const { token, call } = await newProgram(service, account, { scopes: ['read'], name: 'PlantedName' });
  expectSuccess(await call('/v1/shipments'), 200);
  expectFailure(await request(`${service.url}/v1/shipments?key=${token}`), 401);
  await account.call('/v1/nothing/PlantedPath');
  await hook.waitFor(1);
  await untilFound(async () => (await deliveriesOf(account, webhookId))[0]?.attemptCount === 1);
  await account.call(`/v1/webhooks/${webhookId}`, { method: 'DELETE' });
  const { headers } = await account.call('/v1/webhooks'); // this line is logged after all others
  await until('it is logged', () => service.log().includes(headers.get('x-request-id')!));
  const log = service.log();
  expect(log).toContain('/v1/shipments');
  const secrets = [secret, cookie.slice(cookie.indexOf('=') + 1), account.accountKey, account.token, token];
  for (const text of ['Planted', ...secrets, account.password, account.email])
    expect({ text, found: log.includes(text) }).toEqual({ text, found: false });
  await hook.close();
});
