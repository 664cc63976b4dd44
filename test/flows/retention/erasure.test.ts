import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  operator,
  registerAccount,
  registerWebhook,
  sampleOrder,
  type Account,
} from '../../support/client.js';
import { findInDatabase } from '../../support/database.js';
import { startProcess, startServiceToInspect, stopProcess, type Service } from '../../support/harness.js';
import { startReceiver, type Receiver } from '../../support/receiver.js';
import { deliveriesOf, untilFound } from '../../support/deliveries.js';

const planted = {
  fullName: 'Planted Name',
  phone: '98989898989898',
  street: 'Planted Street',
  reference: 'planted reference',
  contents: 'planted contents',
  evidence: 'https://photos.test/planted-door',
  place: '48.85837',
  response: 'planted response',
  header: 'planted header',
};
const words = Object.values(planted);
const evidence = {
  evidences: [planted.evidence],
  anomalies: { seenBy: planted.fullName },
  lat: Number(planted.place),
};

const order = () => {
  const sample = sampleOrder();
  return {
    ...sample,
    recipientLocation: { ...sample.recipientLocation, street: planted.street, reference: planted.reference },
    recipientInformation: { fullName: planted.fullName, phone: planted.phone },
    package: { ...sample.package, description: planted.contents, items: [{ name: planted.contents }] },
  };
};

let service: Service;
let account: Account;
let good: Receiver;
let bad: Receiver;
let slow: Receiver;
let hooks: Record<'good' | 'bad' | 'slow', string>;
let trackingId: string;
let shipmentId: string;
let release = (): void => undefined;

const place = (body: object = order()) =>
  account.call('/v1/shipments', { body, headers: { 'idempotency-key': 'order-1' } });
const erase = () => operator(service, `/shipments/${trackingId}/erase`, { method: 'POST' });
const report = (state: string) =>
  operator(service, `/shipments/${trackingId}/events`, { body: { state, ...evidence } });
const inDatabase = () => findInDatabase(service.sql, words);

beforeAll(async () => {
  service = await startServiceToInspect({ RETRY_SCHEDULE: '1h' });
  account = await registerAccount(service);
  const headers = { 'X-Said': planted.header };
  good = await startReceiver(() => ({ headers, body: planted.response }));
  bad = await startReceiver(() => ({ headers, status: 500, body: planted.response }));
  const released = new Promise<void>((resolve) => (release = resolve));
  slow = await startReceiver(
    (_, response) => void released.then(() => response.writeHead(200, headers).end(planted.response)),
  );
  const register = async ({ url }: Receiver) => (await registerWebhook(account, url)).webhookId;
  hooks = { good: await register(good), bad: await register(bad), slow: await register(slow) };
  ({ trackingId, shipmentId } = (await place()).data as { trackingId: string; shipmentId: string });
  await good.waitFor(1);
  expect((await report('PICKED_UP')).httpStatus).toBe(202);
  await Promise.all([good.waitFor(2), bad.waitFor(1), slow.waitFor(1)]);
  await untilFound(
    async () => (await service.sql(`select 1 from attempts where response_body is not null`)).length > 0,
  );
  await untilFound(async () =>
    (await deliveriesOf(account, hooks.good)).every(({ status }) => status === 'SUCCEEDED'),
  );
});
afterAll(async () => {
  release();
  await Promise.all([good, bad, slow].map((receiver) => receiver?.close()));
  await service?.stop();
});

test('an erased shipment has nothing personal in any table, and its owed deliveries are CANCELLED, ERASED', async () => {
  const history = async () =>
    (
      (await account.call(`/v1/shipment-tracking/${trackingId}`)).data.history as Record<string, unknown>[]
    ).map(({ state, timestamp }) => ({ state, timestamp }));
  const before = await history();
  expect((await inDatabase()).length).toBeGreaterThanOrEqual(words.length);
  const response = await erase();
  expect(response).toMatchObject({
    httpStatus: 200,
    data: { trackingId, shipmentId, erasedAt: expect.any(String) },
  });
  expect(await inDatabase()).toEqual([]);
  expect(await history()).toEqual(before);
  for (const webhookId of [hooks.bad, hooks.slow])
    for (const delivery of await deliveriesOf(account, webhookId))
      expect(delivery).toMatchObject({ status: 'CANCELLED', reason: 'ERASED' });
  for (const delivery of await deliveriesOf(account, hooks.good)) expect(delivery.status).toBe('SUCCEEDED');
  expect((await erase()).data).toEqual(response.data);
  expect((await operator(service, '/shipments/PH1/erase', { method: 'POST' })).httpStatus).toBe(404);
});

test('an erased shipment stores nothing of an attempt that ends later', async () => {
  release();
  await untilFound(() => Promise.resolve(/ended too late/.test(service.process.output())));
  expect(await inDatabase()).toEqual([]);
});

test('an erased shipment responds to its idempotency key with the erased order, whatever the body', async () => {
  for (const body of [order(), sampleOrder()]) {
    const again = await place(body);
    expect(again).toMatchObject({ httpStatus: 201, data: { trackingId, shipmentId } });
    expect(again.data.recipientInformation).toEqual({ fullName: 'ERASED', phone: '00000', email: null });
    expect(JSON.stringify(again.data)).not.toMatch(/planted/i);
  }
  expect(await service.sql('select 1 from shipments')).toHaveLength(1);
  expect(await inDatabase()).toEqual([]);
});

test('an erased shipment is neither redelivered nor replayed', async () => {
  const sent = good.received.length;
  const [delivery] = await deliveriesOf(account, hooks.good);
  const refused = await account.call(`/v1/deliveries/${delivery!.deliveryId}/redeliver`, {
    method: 'POST',
  });
  expect(refused).toMatchObject({
    httpStatus: 409,
    body: { error: { message: expect.stringMatching('erased') } },
  });
  const range = { from: Date.now() - 600_000, to: Date.now() };
  const replay = await account.call(`/v1/webhooks/${hooks.bad}/replay`, { body: range });
  expect(replay.data.queued).toBe(0);
  expect(good.received).toHaveLength(sent);
});

test('an erased shipment continues: its next state is sent, without the reported details', async () => {
  expect((await report('IN_TRANSIT')).httpStatus).toBe(202);
  const [sent] = await good.waitFor(1, ({ notification }) => notification.state === 'IN_TRANSIT');
  expect(sent!.notification).toMatchObject({
    evidences: [],
    anomalies: null,
    lat: null,
    tracking_id: trackingId,
  });
  await untilFound(async () =>
    (await deliveriesOf(account, hooks.good)).every(({ status }) => status === 'SUCCEEDED'),
  );
  expect(await inDatabase()).toEqual([]);
});

test('an erased order says when it was erased, and keeps what is not personal', async () => {
  const { data } = await account.call(`/v1/shipments/${trackingId}`);
  expect(Math.abs(Date.now() - Date.parse(data.erasedAt as string))).toBeLessThan(60_000);
  expect(data).toMatchObject({
    recipientLocation: { street: 'ERASED', reference: null, country: 'MX' },
    recipientInformation: { fullName: 'ERASED', email: null },
    package: { description: 'ERASED', items: null, weight: 1.2 },
  });
  for (const word of words) expect(JSON.stringify(data)).not.toContain(word);
});

test('an erased shipment may be an order that is not created yet', async () => {
  const next = await account.call('/v1/shipments', { body: order() });
  trackingId = next.data.trackingId as string;
  expect((await erase()).httpStatus).toBe(200);
  expect(await inDatabase()).toEqual([]);
});

test('erasure is the fate of every shipment whose last state is older than SHIPMENT_RETENTION', async () => {
  const [ended, going] = await Promise.all([agedOrder(3, 3), agedOrder(3, 1)]);
  const worker = await startProcess({ ...service.env, SHIPMENT_RETENTION: '2d' }, 'worker');
  try {
    await untilFound(
      async () =>
        (await isErased(ended)) && (await service.sql('select 1 from shipments_to_erase')).length > 0,
    );
    expect(await isErased(going)).toBe(false);
  } finally {
    await stopProcess(worker);
  }
});

async function agedOrder(acceptedDaysAgo: number, lastStateDaysAgo: number): Promise<string> {
  const { data } = await account.call('/v1/shipments', { body: order() });
  const id = data.shipmentId as string;
  await untilFound(
    async () =>
      (await service.sql('select 1 from shipment_progress where shipment_id = $1', [id])).length > 0,
  );
  const [row] = await service.sql<{ aged: string }>(
    `select overlay($1::text placing left(uuid_floor(now() - make_interval(days => $2))::text, 13) from 1 for 13) as aged`,
    [id, acceptedDaysAgo],
  );
  for (const table of ['shipments', 'events', 'shipment_progress'])
    await service.sql(`update ${table} set shipment_id = $2 where shipment_id = $1`, [id, row!.aged]);
  await service.sql(
    `update shipment_progress set updated_at = now() - make_interval(days => $2) where shipment_id = $1`,
    [row!.aged, lastStateDaysAgo],
  );
  return row!.aged;
}

const isErased = async (id: string) => {
  const [row] = await service.sql<{ erased: boolean }>(
    `select strpos(order_data, $2) = 0 as erased from shipments where shipment_id = $1`,
    [id, planted.fullName],
  );
  return row!.erased;
};
