import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import {
  fromPortal,
  openSession,
  placeOrder,
  registerAccount,
  registerWebhook,
  request,
  sampleOrder,
  type Account,
} from '../../support/client.js';
import { deliveriesOf, untilFound } from '../../support/deliveries.js';
import { startService, type Service } from '../../support/harness.js';
import { startReceiver, type Receiver } from '../../support/receiver.js';
import { expectFailure, expectSuccess, untilState } from '../../support/expect.js';
import { until } from '../../support/until.js';

let service: Service;
let owner: Account;
let intruder: Account;
let cookies: { owner: string; intruder: string };
let receiver: Receiver;
let ids: { webhookId: string; trackingId: string; deliveryId: string; replayId: string };

beforeAll(async () => {
  service = await startService({ env: { SIMULATE: 'true' } });
  owner = await registerAccount(service, 'owner@example.com');
  intruder = await registerAccount(service, 'intruder@example.com');
  cookies = { owner: await openSession(service, owner), intruder: await openSession(service, intruder) };
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
  ids = { webhookId, trackingId, deliveryId: log.data.deliveries[0].deliveryId as string, replayId };
});
// Only a replay that runs can be cancelled. A worker may end it, for a time so far ahead looks like a wrong clock.
beforeEach(async () => {
  await service.sql(
    `update replays set status = 'RUNNING', walked_at = null, finished_at = null, next_at = 'infinity'`,
  );
});
afterAll(async () => {
  await receiver?.close();
  await service?.stop();
});

type Route = [method: string, path: (of: typeof ids) => string, body?: object | undefined];

const routes: Route[] = [
  ['GET', () => '/v1/webhooks'],
  ['POST', () => '/v1/webhooks', { interests: ['*'], targetAddress: 'https://example.org/' }],
  ['GET', ({ webhookId }) => `/v1/webhooks/${webhookId}`],
  ['GET', ({ webhookId }) => `/v1/webhooks/${webhookId}/stats`],
  ['GET', () => '/v1/webhooks?include=health,stats'],
  ['PATCH', ({ webhookId }) => `/v1/webhooks/${webhookId}`, { status: 'PAUSED' }],
  ['DELETE', ({ webhookId }) => `/v1/webhooks/${webhookId}`],
  ['GET', () => '/v1/egress'],
  ['POST', () => '/v1/shipments', sampleOrder()],
  ['GET', () => '/v1/shipments'],
  ['POST', ({ trackingId }) => `/v1/shipments/${trackingId}/simulate`, { intervalMs: 3_600_000 }],
  ['GET', () => '/v1/states'],
  ['GET', ({ trackingId }) => `/v1/shipment-tracking/${trackingId}`],
  ['GET', () => '/v1/events'],
  ['GET', () => '/v1/deliveries'],
  ['GET', ({ deliveryId }) => `/v1/deliveries/${deliveryId}`],
  ['GET', ({ webhookId }) => `/v1/webhooks/${webhookId}/replays`],
  ['GET', ({ replayId }) => `/v1/replays/${replayId}`],
  ['POST', ({ replayId }) => `/v1/replays/${replayId}/cancel`],
];
const withIds = routes.filter(([, path]) => path.length > 0);
const name = ([method, path]: Route) =>
  `${method} ${path({ webhookId: '{webhookId}', trackingId: '{trackingId}', deliveryId: '{deliveryId}', replayId: '{replayId}' })}`;
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
  service.sql(`select (select json_agg(w order by webhook_id) from webhooks w)::text as webhooks,
                      (select count(*) from shipments) as shipments,
                      (select count(*) from events) as events, (select count(*) from simulations) as simulations,
                      (select json_agg((replay_id, status = 'CANCELLED')) from replays)::text as replays,
                      (select json_agg(d order by delivery_id) from deliveries d)::text as deliveries`);

describe.each(routes.map((one) => [name(one), one] as const))('%s', (_, one) => {
  test("a valid token with another shipper's key returns 403 and has no effect", async () => {
    const before = await everything();
    const response = await send(one, owner.accountKey, intruder.token);
    expectFailure(response, 403);
    expect(JSON.stringify(response.body)).not.toContain('OWNERS-SECRET-NUMBER');
    expectFailure(await send(one, intruder.accountKey, owner.token), 403);
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

  test('a session that no page of the service uses returns 403 and has no effect', async () => {
    const before = await everything();
    for (const headers of [
      {},
      { ...fromPortal, 'sec-fetch-site': 'cross-site' },
      { ...fromPortal, 'sec-fetch-site': 'same-site' },
      { 'parcelhook-csrf': '1' },
    ])
      expectFailure(await sendWith(one, null, { ...headers, cookie: cookies.owner }), 403);
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
    const unknown = { webhookId: userId, trackingId: 'PH1', deliveryId: userId, replayId: userId };
    const ofNobody: Route = [one[0], () => one[1](unknown), one[2]];
    const nobodys = await send(ofNobody, intruder.accountKey, intruder.token);
    for (const other of [
      nobodys,
      await sendCookie(one, null, cookies.intruder),
      await sendCookie(ofNobody, null, cookies.intruder),
    ]) {
      expectFailure(other, 404);
      expect(other.body.error.message).toBe(response.body.error.message);
    }
    expect(await everything()).toEqual(before);
  });
});

test('with a session, lists show only the shipper’s own items', async () => {
  for (const list of ['webhooks', 'deliveries', 'events', 'shipments']) {
    const items = async (cookie: string) =>
      (await sendCookie(['GET', () => `/v1/${list}`], null, cookie)).data[list] as unknown[];
    expect(await items(cookies.intruder)).toEqual([]);
    expect(await items(cookies.owner)).not.toHaveLength(0);
  }
});

test('lists show only the shipper’s own items', async () => {
  expect((await intruder.call('/v1/webhooks')).data.webhooks).toEqual([]);
  expect((await intruder.call('/v1/deliveries')).data.deliveries).toEqual([]);
  expect((await intruder.call('/v1/events')).data.events).toEqual([]);
  expect((await intruder.call(`/v1/events?trackingId=${ids.trackingId}`)).data.events).toEqual([]);
  expect((await intruder.call('/v1/shipments')).data.shipments).toEqual([]);
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

test('no log line contains a name, phone, address, e-mail address, password, key, token or secret', async () => {
  const account = await registerAccount(service, 'planted-mail@example.com');
  const planted = {
    street: 'PlantedStreet',
    fullName: 'PlantedName',
    phone: '98989898989898',
    email: 'planted-recipient@example.com',
    lotId: 'PlantedLot',
    description: 'PlantedParcel',
    hook: 'PlantedHook',
    header: 'PlantedHeader',
  };
  const hook = await startReceiver(() => ({ status: 500, body: 'PlantedResponse' }));
  const { webhookId, secret } = await registerWebhook(account, `${hook.url}/${planted.hook}`, {
    headers: { 'X-Planted': planted.header },
  });
  const order = sampleOrder();
  const body = {
    ...order,
    lotId: planted.lotId,
    recipientLocation: { ...order.recipientLocation, street: planted.street },
    recipientInformation: { fullName: planted.fullName, phone: planted.phone, email: planted.email },
    package: { ...order.package, description: planted.description },
  };
  expectSuccess(await account.call('/v1/shipments', { body }), 201);
  expectFailure(await account.call('/v1/shipments', { body: { ...body, shipperTrackingId: 1 } }), 400);
  expectFailure(await account.call('/v1/shipments', { raw: JSON.stringify(body).slice(0, -1) }), 400);
  const cookie = await openSession(service, account);
  expectSuccess(await sendCookie(['GET', () => '/v1/session'], null, cookie), 200);
  await account.call('/v1/nothing/PlantedPath');
  await hook.waitFor(1);
  await untilFound(async () => (await deliveriesOf(account, webhookId))[0]?.attemptCount === 1);
  await account.call(`/v1/webhooks/${webhookId}`, { method: 'DELETE' });
  const { requestId } = (await account.call('/v1/nothing')).body.error; // this line is logged after all others
  await untilFound(() => Promise.resolve(service.process.output().includes(requestId)));
  const log = service.process.output();
  expect(log).toContain('/v1/shipments');
  const never = [...Object.values(planted), 'PlantedPath', 'PlantedResponse', secret, account.accountKey];
  never.push(cookie.slice(cookie.indexOf('=') + 1));
  for (const text of [...never, account.token, account.password, account.email, service.env.OPERATOR_TOKEN!])
    expect({ text, found: log.includes(text) }).toEqual({ text, found: false });
  await hook.close();
});
