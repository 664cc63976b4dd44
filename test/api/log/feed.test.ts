import { afterAll, expect, test } from '@jest/globals';
import { decodeCursor, encodeCursor } from '../../../src/feed/store.js';
import {
  operator,
  placeOrder,
  registerAccount,
  registerWebhook,
  type ApiResponse,
} from '../../support/client.js';
import { sharedService } from '../../support/shared-service.js';
import { startReceiver } from '../../support/receiver.js';
import { expectSuccess, expectWrong, untilState } from '../../support/expect.js';
import { cursorOf } from '../../support/feed.js';

const dayMs = 86_400_000;

const send = async (trackingId: string, event: object) => {
  const response = await operator(service, `/shipments/${trackingId}/events`, { body: event });
  expectSuccess(response, 202);
  return response.data.eventId as string;
};
const feed = (query = '', of = account) => of.call(`/v1/events${query}`);
interface FeedEvent {
  eventId: string;
  sequence: number;
  trackingId: string;
  state: string;
  recordedAt: string;
  notification: Record<string, unknown>;
}
const eventsOf = (response: ApiResponse) => {
  expectSuccess(response, 200);
  return response.data.events as FeedEvent[];
};
const shown = (response: ApiResponse) =>
  eventsOf(response).map(({ trackingId, sequence }) => [trackingId, sequence]);
const newShipment = async (of = account) => {
  const trackingId = await placeOrder(of);
  await untilState(of, trackingId, 'CREATED');
  return trackingId;
};

const service = await sharedService();
const receiver = await startReceiver();
const account = await registerAccount(service);
await registerWebhook(account, receiver.url);
const trackingIds = [await newShipment(), await newShipment()];
const [first, second] = trackingIds as [string, string];
await send(first, { state: 'PICKED_UP', eventId: 'own-id', lat: 1.5, lng: 2, evidences: ['photo'] });
await send(second, { state: 'PICKED_UP' });
await send(first, { state: 'IN_TRANSIT' });
afterAll(async () => {
  await receiver?.close();
});

test('lists every event, oldest first, as sent to the webhooks', async () => {
  const response = await feed();
  expectSuccess(response, 200);
  const [first, second] = trackingIds;
  expect(shown(response)).toEqual([[first, 1], [second, 1], [first, 2], [second, 2], [first, 3]]); // prettier-ignore
  const received = await receiver.waitFor(5);
  for (const event of eventsOf(response)) {
    const sent = received.find(({ headers }) => headers['webhook-id'] === event.eventId)!;
    expect(event.notification).toEqual(sent.notification);
    expect(event.state).toBe(sent.notification.state);
    expect(String(event.sequence)).toBe(sent.headers['parcelhook-sequence']);
    expect(Object.keys(event)).toEqual([
      ...['eventId', 'sequence', 'trackingId', 'state', 'recordedAt', 'notification'],
    ]);
  }
  expect(eventsOf(response)[2]).toMatchObject({ eventId: 'own-id', state: 'PICKED_UP' });
});

test('lists the same page by page, from cursor to cursor; the last cursor is where to continue', async () => {
  const seen: FeedEvent[] = [];
  let response = await feed('?limit=2');
  for (; eventsOf(response).length > 0; response = await feed(`?limit=2&after=${cursorOf(response)}`)) {
    expect(eventsOf(response).length).toBeLessThanOrEqual(2);
    seen.push(...eventsOf(response));
  }
  expect(seen).toEqual(eventsOf(await feed()));
  const at = decodeCursor(cursorOf(response));
  expect(Math.abs(at.timeMs - Date.now())).toBeLessThan(10_000); // the cursor stays current while nothing happens

  const trackingId = await newShipment();
  expect(shown(await feed(`?after=${cursorOf(response)}`))).toEqual([[trackingId, 1]]);
});

test('an account without events also gets a cursor, which leads to its first event', async () => {
  const other = await registerAccount(service, 'other@example.com');
  for (const query of ['', '?after=latest', '?from=2020-01-01T00:00:00Z', '?from=2999-01-01T00:00:00Z']) {
    const before = await feed(query, other);
    expect(eventsOf(before)).toEqual([]);
    const trackingId = await newShipment(other);
    expect(shown(await feed(`?after=${cursorOf(before)}`, other)).slice(-1)).toEqual([[trackingId, 1]]);
    await service.sql('delete from events where shipper_id = $1', [other.shipperId]);
  }
});

test('latest starts at the current time, from at a given time', async () => {
  const latest = await feed('?after=latest');
  expect(eventsOf(latest)).toEqual([]);
  const from = new Date().toISOString();
  expect(eventsOf(await feed(`?from=${from}`))).toEqual([]);
  const trackingId = await newShipment();
  await send(trackingId, { state: 'PICKED_UP' });
  const expected = [[trackingId, 1], [trackingId, 2]]; // prettier-ignore
  expect(shown(await feed(`?after=${cursorOf(latest)}`))).toEqual(expected);
  const first = await feed(`?from=${from}&limit=1`);
  expect(shown(first)).toEqual(expected.slice(0, 1));
  expect(shown(await feed(`?after=${cursorOf(first)}`))).toEqual(expected.slice(1));
  expect(eventsOf(await feed('?from=0'))).toEqual(eventsOf(await feed()));
});

test('starts where the log starts', async () => {
  await service.sql(`select make_log_partitions(current_date - 41, current_date - 40)`);
  const [row] = await service.sql<{ event_id: string; recorded_at: Date }>(
    `insert into events (event_id, shipper_id, shipment_id, sequence, state, recorded_at, body, position)
     select uuid_floor(now() - interval '40 days'), shipper_id, gen_random_uuid(), 1, 'OLD', now() - interval '40 days',
            body, 0 from events where shipper_id = $1 limit 1 returning event_id, recorded_at`,
    [account.shipperId],
  );
  const expected = eventsOf(await feed());
  expect(expected[0]!.trackingId).toBe(trackingIds[0]);
  expect(eventsOf(await feed(`?from=${row!.recorded_at.toISOString()}`))).toEqual(expected);
  await service.sql('delete from events where event_id = $1', [row!.event_id]);
});

test('trackingId filters for one shipment; an unknown id or one of another shipper yields nothing', async () => {
  const [first] = trackingIds as [string];
  const page = await feed(`?trackingId=${first}&limit=2`);
  expect(shown(page)).toEqual([[first, 1], [first, 2]]); // prettier-ignore
  const next = await feed(`?trackingId=${first}&after=${cursorOf(page)}`);
  expect(shown(next)).toEqual([[first, 3]]);
  expect(shown(await feed(`?trackingId=${first}&from=${Date.now() + 1_000}`))).toEqual([]);
  const intruder = await registerAccount(service, 'intruder@example.com');
  for (const [of, id] of [
    [intruder, first],
    [account, 'PHNONE'],
  ] as const) {
    // prettier-ignore
    const response = await feed(`?trackingId=${id}`, of);
    expectSuccess(response, 200);
    expect(eventsOf(response)).toEqual([]);
  }
});

test('a cursor is a position among all events, where reading goes on with another trackingId or none', async () => {
  const [first, second] = trackingIds as [string, string];
  const page = await feed(`?trackingId=${first}&limit=1`);
  const all = eventsOf(await feed());
  const place = all.findIndex(({ eventId }) => eventId === eventsOf(page)[0]!.eventId);
  const rest = all.slice(place + 1);
  expect(eventsOf(await feed(`?after=${cursorOf(page)}`))).toEqual(rest);
  const ofSecond = await feed(`?after=${cursorOf(page)}&trackingId=${second}`);
  expect(eventsOf(ofSecond)).toEqual(rest.filter(({ trackingId }) => trackingId === second));
});

test('excludes tests and notices', async () => {
  const before = await feed();
  const hook = (await account.call('/v1/webhooks')).data.webhooks[0].webhookId as string;
  expectSuccess(await account.call(`/v1/webhooks/${hook}/test`, { method: 'POST' }), 200);
  expect(eventsOf(await feed())).toEqual(eventsOf(before));
  expect(eventsOf(await feed(`?after=${cursorOf(before)}`))).toEqual([]);
});

test('shows erased events erased, at their position', async () => {
  const [first] = trackingIds as [string];
  const before = eventsOf(await feed(`?trackingId=${first}`));
  expect(before[1]!.notification).toMatchObject({ lat: 1.5, lng: 2, evidences: ['photo'] });
  expectSuccess(await operator(service, `/shipments/${first}/erase`, { method: 'POST' }), 200);
  const after = eventsOf(await feed(`?trackingId=${first}`));
  expect(after[1]!.notification).toMatchObject({ lat: null, lng: null, evidences: [] });
  expect(after.map(({ eventId }) => eventId)).toEqual(before.map(({ eventId }) => eventId));
});

test('large notifications come in smaller pages, and all of them come', async () => {
  const other = await registerAccount(service, 'large@example.com');
  const trackingId = await newShipment(other);
  const catalogue = ['PICKED_UP', 'IN_TRANSIT', 'OUT_FOR_DELIVERY', 'DELIVERY_FAILED', 'OUT_FOR_DELIVERY'];
  for (const state of [...catalogue, 'DELIVERY_FAILED', 'OUT_FOR_DELIVERY'])
    await send(trackingId, { state });
  // Larger than ORDER_ITEMS_LIMIT allows by default.
  await service.sql(
    `update events set body = jsonb_set(body::jsonb, '{evidences}', to_jsonb(array[repeat('x', 200000)]))::text
      where shipment_id = (select shipment_id from shipments where tracking_id = $1)`,
    [trackingId],
  );
  const first = await feed('', other);
  expect(eventsOf(first).length).toBeGreaterThan(1);
  expect(JSON.stringify(first.body).length).toBeLessThan(1_500_000);
  const rest = await feed(`?after=${cursorOf(first)}`, other);
  expect([...shown(first), ...shown(rest)]).toEqual([1, 2, 3, 4, 5, 6, 7, 8].map((n) => [trackingId, n]));
});

test('400 names what is wrong: two start parameters, a limit, a wait, an invalid cursor', async () => {
  const cursor = decodeCursor(cursorOf(await feed()));
  const after = (changes: Partial<typeof cursor>) => `?after=${encodeCursor({ ...cursor, ...changes })}`;
  expectSuccess(await feed(after({})), 200);
  const wrong: [string, string[]][] = [
    ['?after=latest&from=2026-01-01T00:00:00Z', ['from']],
    ['?limit=251&wait=31s&after=x&from=x&trackingId=-', ['after', 'from', 'limit', 'trackingId', 'wait']],
    ['?limit=251&after=latest&from=2026-01-01T00:00:00Z', ['from', 'limit']],
    ['?wait=30', ['wait']],
    ['?wait=-1s', ['wait']],
    ['?after=', ['after']],
    [`${after({})}AA`, ['after']],
    [after({ epoch: '00000000-0000-4000-8000-000000000000' }), ['after']],
    [after({ position: cursor.position + 1_000_000n }), ['after']],
    [after({ position: -1n }), ['after']],
    [after({ timeMs: Date.now() - 31.1 * dayMs }), ['after']],
    ['?cursor=x', ['cursor']],
  ];
  for (const [query, paths] of wrong) expectWrong(await feed(query), paths);
  expectSuccess(await feed(after({ timeMs: Date.now() - 30.9 * dayMs })), 200);
});
