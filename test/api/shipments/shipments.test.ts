import { describe, expect, test } from '@jest/globals';
import { operator, placeOrder, registerAccount, registerWebhook } from '../../support/client.js';
import { sharedService } from '../../support/shared-service.js';
import { expectSuccess, expectWrong, offsetForm, untilState, uuidForm } from '../../support/expect.js';

interface Listed {
  trackingId: string;
  shipmentId: string;
  shipperTrackingId: string;
  state: string | null;
  acceptedAt: string;
  updatedAt: string;
}

const placed: string[] = [];
let middle: string;

const page = async (query: string, by = account) => {
  const response = await by.call(`/v1/shipments?${query}`);
  expectSuccess(response, 200);
  expect(Object.keys(response.data)).toEqual(['shipments', 'nextCursor']);
  return response.data as { shipments: Listed[]; nextCursor: string | null };
};
/** Walks in pages of this size; counts pages that are not full. */
async function walk(query: string, limit = 250, by = account) {
  const found: Listed[] = [];
  let notFull = 0;
  for (let cursor: string | null = ''; cursor !== null;) {
    const { shipments, nextCursor } = await page(
      `limit=${limit}&${query}${cursor && `&cursor=${cursor}`}`,
      by,
    );
    found.push(...shipments);
    if (nextCursor !== null && shipments.length < limit) notFull += 1;
    cursor = nextCursor;
  }
  return { found, notFull };
}
const all = async (query: string) => (await walk(query)).found;

const service = await sharedService();
const account = await registerAccount(service);
for (let n = 0; n < 12; n += 1) {
  placed.push(await placeOrder(account, n % 4 === 0 ? ' Straße 1 / ñ ' : `ORDER-${n}`));
  if (n === 5) middle = new Date(Date.now() + 2).toISOString();
}
for (const trackingId of placed) await untilState(account, trackingId, 'CREATED');
for (const trackingId of [placed[0]!, placed[8]!, placed[9]!])
  await operator(service, `/shipments/${trackingId}/events`, { body: { state: 'PICKED_UP' } });

describe('the list of shipments', () => {
  test('has all, newest first, with the documented fields and nothing about the recipient', async () => {
    const { shipments, nextCursor } = await page('');
    expect(nextCursor).toBeNull();
    expect(shipments.map(({ trackingId }) => trackingId)).toEqual([...placed].reverse());
    expect(shipments.at(-1)).toEqual({
      trackingId: placed[0],
      shipmentId: expect.stringMatching(uuidForm),
      shipperTrackingId: 'Straße 1 / ñ',
      state: 'PICKED_UP',
      acceptedAt: expect.stringMatching(offsetForm),
      updatedAt: expect.stringMatching(offsetForm),
    });
    const [newest] = shipments;
    expect(Date.parse(newest!.updatedAt)).toBeGreaterThanOrEqual(Date.parse(newest!.acceptedAt));
    const order = await account.call(`/v1/shipment-tracking/${placed[0]}`);
    expect(shipments.at(-1)!.shipmentId).toBe(order.data.shipmentId);
  });

  test.each([1, 5, 12])('comes in pages of %d without gaps or duplicates', async (limit) => {
    const { found, notFull } = await walk('', limit);
    expect(found.map(({ trackingId }) => trackingId)).toEqual([...placed].reverse());
    expect(notFull).toBe(0);
  });

  test.each<[string, () => string, (shipment: Listed) => boolean]>([
    [
      'shipperTrackingId',
      () => `shipperTrackingId=${encodeURIComponent('Straße 1 / ñ')}`,
      (s) => s.shipperTrackingId === 'Straße 1 / ñ',
    ],
    ['shipperTrackingId of one', () => 'shipperTrackingId=ORDER-7', (s) => s.shipperTrackingId === 'ORDER-7'],
    [
      'shipperTrackingIdPrefix',
      () => 'shipperTrackingIdPrefix=ORDER-1',
      (s) => s.shipperTrackingId.startsWith('ORDER-1'),
    ],
    [
      'a prefix beyond ASCII',
      () => `shipperTrackingIdPrefix=${encodeURIComponent('Straß')}&state=PICKED_UP`,
      (s) => s.shipperTrackingId === 'Straße 1 / ñ' && s.state === 'PICKED_UP',
    ],
    [
      'the whole as a prefix, and itself',
      () => 'shipperTrackingIdPrefix=ORDER-7&shipperTrackingId=ORDER-7',
      (s) => s.shipperTrackingId === 'ORDER-7',
    ],
    ['state', () => 'state=PICKED_UP', (s) => s.state === 'PICKED_UP'],
    ['from', () => `from=${middle}`, (s) => Date.parse(s.acceptedAt) >= Date.parse(middle)],
    ['to', () => `to=${middle}`, (s) => Date.parse(s.acceptedAt) < Date.parse(middle)],
    [
      'all of them',
      () =>
        `shipperTrackingId=${encodeURIComponent('Straße 1 / ñ')}&state=PICKED_UP&from=${middle}&to=2099-01-01`,
      (s) => s.trackingId === placed[8],
    ],
  ])('with %s has exactly those that match, by any pages', async (_, query, matches) => {
    const expected = (await all('')).filter(matches);
    expect(expected.length).toBeGreaterThan(0);
    expect(await all(query())).toEqual(expected);
    expect((await walk(query(), 1)).found).toEqual(expected);
  });

  test('from is inclusive and to exclusive, to the millisecond', async () => {
    const [{ acceptedAt }] = (await all('shipperTrackingId=ORDER-7')) as [Listed];
    const [{ ms }] = (await service.sql(
      `select extract(epoch from accepted_at) * 1000 as ms from shipments
        where shipper_tracking_id = 'ORDER-7' and shipper_id = $1`,
      [account.shipperId],
    )) as [{ ms: string }];
    expect(Date.parse(acceptedAt)).toBe(Number(ms));
    const ids = async (query: string) => (await all(query)).map(({ trackingId }) => trackingId);
    expect(await ids(`from=${Number(ms)}&to=${Number(ms) + 1}`)).toEqual([placed[7]]);
    expect(await ids(`from=${Number(ms) + 1}`)).not.toContain(placed[7]);
    expect(await ids(`to=${Number(ms)}`)).not.toContain(placed[7]);
  });

  test.each([
    'state=LOST',
    'shipperTrackingId=order-7',
    'shipperTrackingIdPrefix=order',
    'shipperTrackingIdPrefix=RDER',
    'shipperTrackingIdPrefix=ORDER-7&shipperTrackingId=ORDER-9',
    'shipperTrackingIdPrefix=%25',
    'from=2099-01-01',
    'to=1999-01-01',
    `from=2020-01-01&to=2019-01-01`,
  ])('without matches (%s) is empty', async (query) => {
    expect(await page(query)).toEqual({ shipments: [], nextCursor: null });
  });

  test.each<[string, string[]]>([
    ['state=created', ['state']],
    ['shipperTrackingId=', ['shipperTrackingId']],
    ['shipperTrackingId=%00', ['shipperTrackingId']],
    [`shipperTrackingId=${'x'.repeat(1_001)}`, ['shipperTrackingId']],
    [`shipperTrackingIdPrefix=${'x'.repeat(501)}`, ['shipperTrackingIdPrefix']],
    ['shipperTrackingIdPrefix=', ['shipperTrackingIdPrefix']],
    ['from=yesterday&to=&limit=0&cursor=x&trackingId=PH1', ['from', 'to', 'limit', 'cursor', 'trackingId']],
  ])('with %s returns 400 naming each error', async (query, paths) => {
    expectWrong(await account.call(`/v1/shipments?${query}`), paths);
  });

  test('shows an order that is not created yet, without a state', async () => {
    const owner = await registerAccount(service, 'uncreated@example.com');
    const trackingId = await placeOrder(owner);
    await untilState(owner, trackingId, 'CREATED');
    await service.sql('delete from shipment_progress where shipper_id = $1', [owner.shipperId]);
    const { shipments } = await page('', owner);
    expect(shipments).toMatchObject([{ trackingId, state: null }]);
    expect(shipments[0]!.updatedAt).toBe(shipments[0]!.acceptedAt);
    expect((await page('state=CREATED', owner)).shipments).toEqual([]);
  });

  test('accepts identifiers of any length, and distinguishes those with a common prefix', async () => {
    const owner = await registerAccount(service, 'long@example.com');
    const long = (end: string) => '漢'.repeat(999) + end;
    for (const end of ['a', 'b']) await placeOrder(owner, long(end));
    await placeOrder(owner, '\u{1f4e6}'.repeat(500));
    const begun = await walk(`shipperTrackingIdPrefix=${encodeURIComponent('漢'.repeat(500))}`, 1, owner);
    expect(begun.found.map(({ shipperTrackingId }) => shipperTrackingId)).toEqual([long('b'), long('a')]);
    for (const id of [long('a'), long('b'), '\u{1f4e6}'.repeat(500)]) {
      const { shipments } = await page(`shipperTrackingId=${encodeURIComponent(id)}`, owner);
      expect(shipments.map(({ shipperTrackingId }) => shipperTrackingId)).toEqual([id]);
    }
  });
});

test('finds rare states among many shipments by cursor, over pages that are not full', async () => {
  const owner = await registerAccount(service, 'many@example.com');
  const many = 15_000;
  await service.sql(manyShipments, [owner.shipperId, many]);
  const expected = ['RARE-1', 'RARE-12000', 'RARE-12001', `RARE-${many}`].reverse();
  const { found, notFull } = await walk('state=LOST', 2, owner);
  expect(found.map(({ shipperTrackingId }) => shipperTrackingId)).toEqual(expected);
  expect(notFull).toBeGreaterThan(0);
  expect(notFull).toBeLessThanOrEqual(many / 5_000);
  expect((await walk('state=RETURNED', 250, owner)).found).toEqual([]);
  const usual = await page('state=CREATED&limit=250', owner);
  expect(usual.shipments).toHaveLength(250);
  const ofPrefix = async (query: string, limit: number) => {
    const { found, notFull } = await walk(`shipperTrackingIdPrefix=${query}`, limit, owner);
    return { ids: found.map(({ shipperTrackingId }) => shipperTrackingId), notFull };
  };
  expect(await ofPrefix('RARE-1', 2)).toEqual({ ids: expected, notFull: 0 }); // few have it
  expect(await ofPrefix('RARE-12', 1)).toEqual({ ids: ['RARE-12001', 'RARE-12000'], notFull: 0 });
  const common = await ofPrefix('R&state=LOST', 2); // more than a page checks have it
  expect(common.ids).toEqual(expected);
  expect(common.notFull).toBeGreaterThan(0);
  const all = await ofPrefix('R', 250);
  expect(all).toEqual({
    ids: (await walk('', 250, owner)).found.map((one) => one.shipperTrackingId),
    notFull: 0,
  });
});

/** Few of them LOST. */
const manyShipments = `
  with made as (
    select n, n in (1, 12000, 12001, $2) as rare, overlay(uuid_floor(now() - interval '1 hour' + n * interval '1 millisecond')::text
             placing lpad(to_hex(n), 12, '0') from 25)::uuid as id from generate_series(1, $2::int) n
  ), tracked as (
    insert into shipment_progress (shipment_id, shipper_id, state, sequence, updated_at)
    select id, $1::uuid, case when rare then 'LOST' else 'CREATED' end, 1, now() from made
  )
  insert into shipments select id, $1, id, 'MANY' || n, case when rare then 'RARE-' || n else 'R' end, '{}', '{}',
         now() - interval '1 hour' + n * interval '1 millisecond' from made`;

test('the state catalogue is listed with the states that may follow', async () => {
  const response = await account.call('/v1/states');
  expectSuccess(response, 200);
  const { states } = response.data as { states: { state: string; terminal: boolean; next: string[] }[] };
  expect(states[0]).toEqual({ state: 'CREATED', terminal: false, next: ['PICKED_UP', 'CANCELLED', 'LOST'] });
  expect(states).toContainEqual({ state: 'DELIVERED', terminal: true, next: [] });
  const names = states.map(({ state }) => state);
  expect(new Set(names).size).toBe(10);
  for (const { next, terminal } of states) {
    expect(terminal).toBe(next.length === 0);
    for (const name of next) expect(names).toContain(name);
  }
});

test('the log finds deliveries by shipper tracking id, of as many shipments as a page reads', async () => {
  const owner = await registerAccount(service, 'same@example.com');
  await registerWebhook(owner, 'http://127.0.0.1:9/', { status: 'PAUSED' });
  const trackingIds: string[] = [];
  for (const id of ['SAME', 'OTHER', 'SAME']) trackingIds.push(await placeOrder(owner, id));
  for (const trackingId of trackingIds) await untilState(owner, trackingId, 'CREATED');
  const [first, other, last] = trackingIds;
  const found = async (query: string) => {
    const { data } = await owner.call(`/v1/deliveries?${query}`);
    return (data.deliveries as { trackingId: string }[]).map(({ trackingId }) => trackingId).sort();
  };
  expect(await found('shipperTrackingId=SAME')).toEqual([first, last].sort());
  expect(await found('shipperTrackingId=SAME&status=HELD&state=CREATED')).toEqual([first, last].sort());
  expect(await found(`shipperTrackingId=SAME&trackingId=${last}`)).toEqual([last]);
  for (const query of ['SAME&state=LOST', `SAME&trackingId=${other}`, 'NONE', 'SAME&from=2099-01-01'])
    expect(await found(`shipperTrackingId=${query}`)).toEqual([]);
  for (const query of ['', '%00', 'A&shipperTrackingId=B'])
    expectWrong(await owner.call(`/v1/deliveries?shipperTrackingId=${query}`), ['shipperTrackingId']);
  const bear = (count: number) =>
    service.sql(
      `insert into shipments select gen_random_uuid(), $1, gen_random_uuid(), md5(random()::text), 'SAME', '{}', '{}', now()
         from generate_series(1, $2::int)`,
      [owner.shipperId, count],
    );
  await bear(998);
  expect(await found('shipperTrackingId=SAME')).toHaveLength(2);
  await bear(1);
  expectWrong(await owner.call('/v1/deliveries?shipperTrackingId=SAME'), ['shipperTrackingId']);
});
