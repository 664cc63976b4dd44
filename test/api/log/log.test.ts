import { afterAll, describe, expect, test } from '@jest/globals';
import {
  readAll,
  operator,
  placeOrder,
  registerAccount,
  registerWebhook,
  type Account,
} from '../../support/client.js';
import { sharedService } from '../../support/shared-service.js';
import { until } from '../../support/until.js';
import { startReceiver } from '../../support/receiver.js';
import {
  expectFailure,
  expectSuccess,
  expectWrong,
  offsetForm,
  untilState,
  uuidForm,
} from '../../support/expect.js';

interface Delivery {
  deliveryId: string;
  webhookId: string;
  eventId: string;
  trackingId: string;
  state: string;
  status: string;
  createdAt: string;
  completedAt: string | null;
  lastAttempt: { startedAt: string; statusCode: number | null; errorCode: string | null } | null;
}

const past = '2020-01-01';

const orders = 25;
const list = async (query = '', by = account): Promise<Delivery[]> => {
  const response = await by.call(`/v1/deliveries?limit=250${query}`);
  expectSuccess(response, 200);
  expect(Object.keys(response.data)).toEqual(['deliveries', 'nextCursor']);
  return response.data.deliveries as Delivery[];
};
async function place(count: number): Promise<string[]> {
  const placed: string[] = [];
  for (let n = 0; n < count; n += 1) placed.push(await placeOrder(account, `L-${n}`));
  for (const trackingId of placed) await untilState(account, trackingId, 'CREATED');
  return placed;
}

const service = await sharedService('impatient');
const account = await registerAccount(service);
const stranger = await registerAccount(service, 'stranger@example.com');
const healthy = await startReceiver();
// Every second order fails: for one webhook, four times each.
const broken = await startReceiver(({ notification }) =>
  /[13579]$/.test(String(notification.label_id)) ? { status: 500, body: 'x'.repeat(10_000) } : {},
);
const register = async (by: Account, url: string, fields: object = {}) =>
  (await registerWebhook(by, url, fields)).webhookId;
const webhooks = {
  good: await register(account, `${healthy.url}?token=canary-query`),
  bad: await register(account, broken.url, { interests: ['CREATED'] }),
  paused: await register(account, healthy.url, { status: 'PAUSED', interests: ['PICKED_UP'] }),
  deleted: await register(account, healthy.url, { status: 'PAUSED', interests: ['CREATED'] }),
};
await register(stranger, healthy.url);
await untilState(stranger, await placeOrder(stranger), 'CREATED');
const trackingIds = await place(orders - 10);
const middle = new Date(Date.now() + 1).toISOString();
await until('it has passed', () => Date.now() > Date.parse(middle));
trackingIds.push(...(await place(10)));
await operator(service, `/shipments/${trackingIds[0]!}/events`, {
  body: { state: 'PICKED_UP', eventId: 'my-event', lat: 1, evidences: ['e'] },
});
await account.call(`/v1/webhooks/${webhooks.deleted}`, { method: 'DELETE' });
await until('none is under way', async () => {
  const all = await list();
  return all.every(({ status }) => status !== 'PENDING' && status !== 'SENDING');
});
const ownEventId = (await list(`&trackingId=${trackingIds[1]}`))[0]!.eventId;
afterAll(async () => {
  await Promise.all([healthy?.close(), broken?.close()]);
});

describe('the delivery log', () => {
  test('has one delivery for each event and interested webhook, newest first', async () => {
    const all = await list();
    expect(all).toHaveLength(3 * orders + 2);
    expect(new Set(all.map(({ deliveryId }) => deliveryId)).size).toBe(all.length);
    const times = all.map(({ createdAt }) => Date.parse(createdAt));
    expect(times).toEqual([...times].sort((a, b) => b - a));
  });

  test('shows exactly the documented fields of a delivery, its address without the query', async () => {
    const [delivery] = await list(`&webhookId=${webhooks.good}&trackingId=${trackingIds[1]}`);
    expect(delivery).toEqual({
      deliveryId: expect.stringMatching(uuidForm),
      webhookId: webhooks.good,
      targetAddress: healthy.url,
      eventId: expect.stringMatching(uuidForm),
      trackingId: trackingIds[1],
      shipperTrackingId: 'L-1',
      state: 'CREATED',
      status: 'SUCCEEDED',
      heldBy: null,
      nextProbeAt: null,
      reason: null,
      attemptCount: 1,
      lastAttempt: {
        startedAt: expect.stringMatching(offsetForm),
        durationMs: expect.any(Number),
        statusCode: 200,
        errorCode: null,
      },
      nextAttemptAt: null,
      createdAt: expect.stringMatching(offsetForm),
      completedAt: expect.stringMatching(offsetForm),
    });
  });

  test.each([1, 7, 38, 77, 250])(
    'pages of %d lead to the end without gaps or duplicates, even while the log grows',
    async (limit) => {
      const before = (await list()).map(({ deliveryId }) => deliveryId);
      const seen: string[] = [];
      let cursor: string | null = null;
      do {
        const query: string = cursor ? `&cursor=${encodeURIComponent(cursor)}` : '';
        const { data } = await account.call(`/v1/deliveries?limit=${limit}${query}`);
        expect(data.deliveries.length).toBeLessThanOrEqual(limit);
        if (data.nextCursor) expect(data.deliveries).toHaveLength(limit);
        seen.push(...(data.deliveries as Delivery[]).map(({ deliveryId }) => deliveryId));
        if (cursor === null && limit === 7) await place(1);
        cursor = data.nextCursor as string | null;
      } while (cursor);
      expect(seen).toEqual(before);
    },
  );

  test('returns fifty without a limit', async () => {
    const { data } = await account.call('/v1/deliveries');
    expect(data.deliveries).toHaveLength(50);
    expect(data.nextCursor).toEqual(expect.any(String));
  });

  test.each<[string, () => string, (delivery: Delivery) => boolean]>([
    ['webhookId', () => `webhookId=${webhooks.bad}`, (d) => d.webhookId === webhooks.bad],
    [
      'webhookId of one deleted',
      () => `webhookId=${webhooks.deleted}`,
      (d) => d.webhookId === webhooks.deleted,
    ],
    ['trackingId', () => `trackingId=${trackingIds[0]}`, (d) => d.trackingId === trackingIds[0]],
    ["eventId, the caller's own", () => 'eventId=my-event', (d) => d.eventId === 'my-event'],
    ["eventId, the service's", () => `eventId=${ownEventId}`, (d) => d.eventId === ownEventId],
    [
      'eventId in capitals, of its shipment and webhook',
      () =>
        `eventId=${ownEventId.toUpperCase()}&trackingId=${trackingIds[1]}&webhookId=${webhooks.bad}&from=${past}`,
      (d) => d.eventId === ownEventId && d.webhookId === webhooks.bad,
    ],
    ['state', () => 'state=PICKED_UP', (d) => d.state === 'PICKED_UP'],
    ['status SUCCEEDED', () => 'status=SUCCEEDED', (d) => d.status === 'SUCCEEDED'],
    ['status FAILED', () => 'status=FAILED', (d) => d.status === 'FAILED'],
    ['status HELD', () => 'status=HELD', (d) => d.status === 'HELD'],
    [
      'what is unfinished',
      () => 'status=UNFINISHED',
      (d) => ['PENDING', 'SENDING', 'HELD'].includes(String(d.status)),
    ],
    ['status CANCELLED', () => 'status=CANCELLED', (d) => d.status === 'CANCELLED'],
    ['statusCode', () => 'statusCode=500', (d) => d.lastAttempt?.statusCode === 500],
    ['errorCode', () => 'errorCode=HTTP_STATUS', (d) => d.lastAttempt?.errorCode === 'HTTP_STATUS'],
    [
      'statusCode, of its webhook and time',
      () => `statusCode=200&webhookId=${webhooks.bad}&state=CREATED&status=SUCCEEDED&from=${middle}`,
      (d) => d.webhookId === webhooks.bad && d.status === 'SUCCEEDED' && d.createdAt >= middle,
    ],
    [
      'errorCode, of its shipment',
      () => `errorCode=HTTP_STATUS&statusCode=500&trackingId=${trackingIds[1]}`,
      (d) => d.trackingId === trackingIds[1] && d.webhookId === webhooks.bad,
    ],
    [
      'attemptedFrom and attemptedTo',
      () => `attemptedFrom=${middle}&attemptedTo=${new Date().toISOString()}`,
      (d) => (d.lastAttempt?.startedAt ?? '') >= middle,
    ],
    ['from', () => `from=${middle}`, (d) => d.createdAt >= middle],
    ['to', () => `to=${middle}`, (d) => d.createdAt < middle],
    ['from in milliseconds', () => `from=${Date.parse(middle)}`, (d) => d.createdAt >= middle],
    [
      'all of them',
      () =>
        `webhookId=${webhooks.good}&trackingId=${trackingIds[0]}&state=PICKED_UP&status=SUCCEEDED&from=${middle}&to=${new Date(Date.now() + 60_000).toISOString()}`,
      (d) => d.webhookId === webhooks.good && d.state === 'PICKED_UP' && d.status === 'SUCCEEDED',
    ],
  ])('filter %s returns exactly the matching deliveries', async (_, query, matches) => {
    const expected = (await list()).filter(matches);
    expect(expected.length).toBeGreaterThan(0);
    const ids = (deliveries: Delivery[]) => deliveries.map(({ deliveryId }) => deliveryId);
    expect(ids(await list(`&${query()}`))).toEqual(ids(expected));
    const paged = await readAll<Delivery>(account.call, `/v1/deliveries?limit=3&${query()}`, 'deliveries');
    expect(ids(paged)).toEqual(ids(expected));
  });

  test('from and to accept the format in which the service returns times', async () => {
    const moment = encodeURIComponent(middle.replace('Z', '+00:00'));
    expect(await list(`&from=${moment}`)).toEqual(await list(`&from=${middle}`));
  });

  test.each(
    (
      'state=LOST from=2099-01-01T00:00:00Z to=2000-01-01T00:00:00Z trackingId=PH1 ' +
      'eventId=no-such-event eventId=01a1fdfa-4678-7b5c-9263-7e8f90a1b2c3 ' +
      'eventId=ffffffff-ffff-4fff-bfff-ffffffffffff eventId=my-event&to=2000-01-01T00:00:00Z ' +
      'eventId=my-event&from=2099-01-01T00:00:00Z eventId=my-event&status=FAILED ' +
      'eventId=my-event&trackingId=PH1 statusCode=418 errorCode=TLS ' +
      'errorCode=HTTP_STATUS&statusCode=200 errorCode=HTTP_STATUS&status=CANCELLED ' +
      'eventId=my-event&statusCode=500'
    ).split(' '),
  )('a filter without matches (%s) returns an empty list', async (query) =>
    expect(await list(`&${query}`)).toEqual([]),
  );

  test.each([
    ...(
      'webhookId=x trackingId=%00 eventId= eventId=%00 state=created ' +
      'status=succeeded status= statusCode= statusCode=99 statusCode=600 ' +
      'statusCode=5e2 errorCode= errorCode=timeout attemptedFrom=soon attemptFailed= attemptFailed=1 ' +
      'from=yesterday to=2026-13-01T00:00:00Z from= state=CREATED&state=LOST'
    ).split(' '),
    `eventId=${'e'.repeat(256)}`,
  ])('%s returns 400 naming it', async (query) => {
    expectWrong(await account.call(`/v1/deliveries?${query}`), [query.split('=')[0]!]);
  });

  test('a status or error code that cannot exist returns 400 with those that can', async () => {
    const wrong = await account.call('/v1/deliveries?statusCode=OK&errorCode=TIMEOUTS');
    expect(wrong.body.error.details).toEqual([
      { path: 'statusCode', message: 'must be an HTTP status: a whole number from 100 to 599' },
      {
        path: 'errorCode',
        message:
          'must be one of TIMEOUT, DNS, CONNECT, RESET, TLS, ADDRESS_DENIED, HTTP_STATUS, PROTOCOL, LOST; did you mean TIMEOUT?',
      },
    ]);
  });

  test("another shipper's deliveries are never shown, whatever the filter", async () => {
    const own = await list('', stranger);
    expect(own).toHaveLength(1);
    const byEvent = ['eventId=my-event', `eventId=${ownEventId}`];
    for (const query of [`webhookId=${webhooks.good}`, `trackingId=${trackingIds[0]}`, ...byEvent])
      expect(await list(`&${query}`, stranger)).toEqual([]);
    const { data } = await account.call('/v1/deliveries?limit=1');
    const foreign = await stranger.call(`/v1/deliveries?cursor=${data.nextCursor}`);
    expectWrong(foreign, ['cursor']);
  });
});

describe('one delivery', () => {
  const read = async (query: string) => {
    const [delivery] = await list(`&${query}`);
    const response = await account.call(`/v1/deliveries/${delivery!.deliveryId}`);
    expectSuccess(response, 200);
    const { payload, attempts, nextAttemptsCursor, ...rest } = response.data;
    expect(nextAttemptsCursor).toBeNull();
    expect(rest).toEqual(delivery);
    return { payload, attempts, delivery: delivery! };
  };

  test('includes the payload as sent and its attempt', async () => {
    const { payload, attempts, delivery } = await read(`webhookId=${webhooks.good}&state=PICKED_UP`);
    expect(delivery.eventId).toBe('my-event');
    expect(payload).toEqual({
      state: 'PICKED_UP',
      label_id: 'L-0',
      anomalies: null,
      evidences: ['e'],
      tracking_id: trackingIds[0],
      shipper_tracking_id: 'L-0',
      timestamp: expect.any(Number),
      lat: 1,
      lng: null,
    });
    const sent = healthy.received.find(({ headers }) => headers['webhook-id'] === 'my-event');
    expect(sent!.notification).toEqual(payload);
    const someMs: unknown = expect.any(Number);
    expect(attempts).toEqual([
      {
        number: 1,
        trigger: 'SCHEDULED',
        startedAt: expect.stringMatching(offsetForm),
        durationMs: expect.any(Number),
        dnsMs: null,
        connectMs: attempts[0].connectMs, // null on a kept connection
        tlsMs: null,
        firstByteMs: expect.any(Number),
        remoteAddress: '127.0.0.1',
        statusCode: 200,
        errorCode: null,
        errorDetail: null,
        requestHeaders: sent!.headers,
        responseHeaders: expect.objectContaining({ connection: 'keep-alive', date: expect.any(String) }),
        responseBody: 'ok',
        requestedBy: null,
        waitedMs: { turn: someMs, receiver: someMs, circuit: 0, paused: 0, rate: 0, us: someMs },
      },
    ]);
  });

  test('that failed has all attempts and the first 4 KiB of each response', async () => {
    const { attempts, delivery } = await read(`webhookId=${webhooks.bad}&status=FAILED`);
    expect(delivery).toMatchObject({ attemptCount: 4, nextAttemptAt: null, reason: null });
    expect(attempts.map(({ number }: { number: number }) => number)).toEqual([4, 3, 2, 1]);
    for (const attempt of attempts)
      expect(attempt).toMatchObject({
        statusCode: 500,
        errorCode: 'HTTP_STATUS',
        responseBody: 'x'.repeat(4096),
      });
  });

  test('of a deleted webhook is CANCELLED, with that reason', async () => {
    for (const delivery of await list(`&webhookId=${webhooks.deleted}`))
      expect(delivery).toMatchObject({
        status: 'CANCELLED',
        reason: 'WEBHOOK_DELETED',
        completedAt: expect.stringMatching(offsetForm),
      });
  });

  test.each(['018f0000-0000-7000-8000-000000000000', 'x', '%00'])(
    'the unknown id %s returns 404',
    async (id) => {
      expectFailure(await account.call(`/v1/deliveries/${id}`), 404);
    },
  );
});

test('events recorded in the same millisecond are distinguished by trackingId', async () => {
  const owner = await registerAccount(service, 'busy@example.com');
  await registerWebhook(owner, healthy.url, { interests: ['PICKED_UP'] });
  const placed = await Promise.all(Array.from({ length: 50 }, (_, n) => placeOrder(owner, `B-${n}`)));
  for (const trackingId of placed) await untilState(owner, trackingId, 'CREATED');
  const events = placed.map((trackingId) => ({ trackingId, state: 'PICKED_UP' }));
  await operator(service, '/events', { body: { events } });
  for (const trackingId of placed)
    expect((await list(`&trackingId=${trackingId}`, owner)).map((found) => found.trackingId)).toEqual([
      trackingId,
    ]);
});
