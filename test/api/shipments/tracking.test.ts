import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  operator,
  placeOrder,
  registerAccount,
  registerWebhook,
  sampleOrder,
  type Account,
} from '../../support/client.js';
import {
  startProcess,
  startServiceOfRole,
  stopProcess,
  type RunningProcess,
  type Service,
} from '../../support/harness.js';
import { sharedService } from '../../support/shared-service.js';
import { startReceiver } from '../../support/receiver.js';
import { until } from '../../support/until.js';
import { expectFailure, expectRecent, expectSuccess, untilState, uuidForm } from '../../support/expect.js';

const service = await sharedService();
const account = await registerAccount(service);

test('soon after acceptance the returned trackingId reports CREATED, without any webhook', async () => {
  const order = await account.call('/v1/shipments', { body: sampleOrder() });
  const response = await untilState(account, order.data.trackingId as string, 'CREATED');
  expectSuccess(response, 200);
  expect(response.body).not.toHaveProperty('processId');
  expect(response.data).toEqual({
    trackingId: order.data.trackingId,
    shipmentId: order.data.shipmentId,
    shipperTrackingId: 'SHIPPER-1',
    state: 'CREATED',
    history: [
      {
        state: 'CREATED',
        timestamp: expect.any(Number),
        lat: null,
        lng: null,
        anomalies: null,
        evidences: [],
      },
    ],
  });
  expect(Object.keys(response.data)).toEqual(
    'trackingId shipmentId shipperTrackingId state history'.split(' '),
  );
  expectRecent(response.data.history[0].timestamp as number);
});

test('a webhook interested in CREATED is notified, another is not', async () => {
  const [receiver, silent] = [await startReceiver(), await startReceiver()];
  await registerWebhook(account, receiver.url, { interests: ['CREATED'] });
  await registerWebhook(account, silent.url, { interests: ['DELIVERED'] });
  const trackingId = await placeOrder(account, 'B-2');
  const [received] = await receiver.waitFor(1, ({ notification }) => notification.tracking_id === trackingId);
  expect(received!.notification).toMatchObject({ state: 'CREATED', label_id: 'B-2' });
  expect(silent.received).toHaveLength(0);
  await Promise.all([receiver.close(), silent.close()]);
});

test('the history has every state in the order recorded, with the data of its event', async () => {
  const trackingId = await placeOrder(account);
  await untilState(account, trackingId, 'CREATED');
  const details = {
    timestamp: 1_700_000_000_000,
    lat: 19.4,
    lng: -99.1,
    anomalies: { code: 'RAIN', parts: [1, null] },
    evidences: [{ photo: 'https://example.org/1.jpg' }, 'note', 3],
  };
  await operator(service, `/shipments/${trackingId}/events`, { body: { state: 'PICKED_UP', ...details } });
  await operator(service, `/shipments/${trackingId}/events`, { body: { state: 'IN_TRANSIT' } });
  const { data } = await account.call(`/v1/shipment-tracking/${trackingId}`);
  expect(data.state).toBe('IN_TRANSIT');
  expect(data.history.map(({ state }: { state: string }) => state)).toEqual([
    'CREATED',
    'PICKED_UP',
    'IN_TRANSIT',
  ]);
  expect(data.history[1]).toEqual({ state: 'PICKED_UP', ...details });
  expect(Object.keys(data.history[1])).toEqual('state timestamp lat lng anomalies evidences'.split(' '));
});

test('a hundred concurrent orders all become shipments, each once', async () => {
  const trackingIds = await Promise.all(Array.from({ length: 100 }, (_, n) => placeOrder(account, `M-${n}`)));
  expect(new Set(trackingIds).size).toBe(100);
  for (const trackingId of trackingIds) {
    const { data } = await untilState(account, trackingId, 'CREATED');
    expect(data.history).toHaveLength(1);
  }
});

test.each(['PH000000000AAAAAAAAA', 'unknown', 'ph1', '%00', "'", 'a'.repeat(500)])(
  'the unknown tracking id %s returns 404',
  async (id) => expectFailure(await account.call(`/v1/shipment-tracking/${id}`), 404),
);

async function wellTravelled(shipperTrackingId: string, count: number, bodyBytes = 0): Promise<string> {
  const trackingId = await placeOrder(account, shipperTrackingId);
  await untilState(account, trackingId, 'CREATED');
  await service.sql(
    `with known as (
       update shipment_progress
          set sequence = sequence + $2::int, first_event_id = default, last_event_id = default
        where shipment_id = (select shipment_id from shipments where tracking_id = $1)
     )
     insert into events (event_id, shipper_id, shipment_id, sequence, state, recorded_at, body)
     select overlay(gen_random_uuid()::text placing left(uuid_floor(now())::text, 15) from 1 for 15)::uuid, s.shipper_id, s.shipment_id, 1 + n, 'IN_TRANSIT', now(),
            json_build_object('state', 'IN_TRANSIT', 'timestamp', n, 'lat', null, 'lng', null, 'anomalies', null,
                              'evidences', json_build_array(repeat('e', $3)))
       from shipments s, generate_series(1, $2) n where tracking_id = $1`,
    [trackingId, count, bodyBytes],
  );
  return trackingId;
}

const historyOf = async (trackingId: string) => {
  const { data } = await account.call(`/v1/shipment-tracking/${trackingId}`);
  return data.history as { state: string; timestamp: number }[];
};

test('the history of a shipment has its latest 1,000 states, or as many large ones as fit 1 MiB', async () => {
  const many = await historyOf(await wellTravelled('MANY', 1_500));
  expect(many).toHaveLength(1_000);
  expect([many[0]!.timestamp, many.at(-1)!.timestamp]).toEqual([501, 1_500]);
  const large = await historyOf(await wellTravelled('LARGE', 30, 250_000));
  expect(large).toHaveLength(5); // the last of them may exceed the limit
  expect(large.at(-1)!.timestamp).toBe(30);
});

test('the log refuses a query by shipments with more than 10,000 states: 400 suggests another filter', async () => {
  const trackingId = await wellTravelled('ENDLESS', 10_001);
  for (const [name, value] of Object.entries({ trackingId, shipperTrackingId: 'ENDLESS' })) {
    const response = await account.call(`/v1/deliveries?${name}=${value}`);
    expectFailure(response, 400);
    expect(response.body.error.details).toEqual([
      { path: name, message: expect.stringContaining('more than 10000 states') },
    ]);
  }
});

describe('roles apart', () => {
  let api: Service;
  let owner: Account;
  let trackingId: string;
  let worker: RunningProcess | undefined;
  beforeAll(async () => {
    api = await startServiceOfRole('api');
    owner = await registerAccount(api);
    trackingId = await placeOrder(owner);
  });
  afterAll(async () => {
    if (worker) await stopProcess(worker);
    await api?.stop();
  });

  test('an api alone accepts orders: state null, history empty; an event of the operator creates the shipment', async () => {
    const waiting = await owner.call(`/v1/shipment-tracking/${trackingId}`);
    expectSuccess(waiting, 200);
    expect(waiting.data).toEqual({
      trackingId,
      shipmentId: expect.stringMatching(uuidForm),
      shipperTrackingId: 'SHIPPER-1',
      state: null,
      history: [],
    });
    const next = await placeOrder(owner);
    const event = { body: { state: 'PICKED_UP' } };
    expectSuccess(await operator(api, `/shipments/${next}/events`, event), 202);
    const { data } = await owner.call(`/v1/shipment-tracking/${next}`);
    expect(data.history.map(({ state }: { state: string }) => state)).toEqual(['CREATED', 'PICKED_UP']);
  });

  test('a later worker creates what waits; a failing step of its maintenance does not prevent the others', async () => {
    await api.sql(
      `insert into webhook_hours select gen_random_uuid(), '2001-01-01', 1, 0, 1, 1, '{1}', '{1}'`,
    );
    await api.sql(
      `insert into idempotency_keys select shipper_id, 'old', '', shipment_id, now() - interval '25 hours' from shipments limit 1`,
    );
    await api.sql(`create function refuse() returns trigger language plpgsql as
      $$ begin raise exception 'as planned'; end $$`);
    await api.sql('create trigger refuse before delete on webhook_hours execute function refuse()');
    worker = await startProcess(api.env, 'worker');
    await untilState(owner, trackingId, 'CREATED');
    const left = () => api.sql(`select 1 from idempotency_keys where key = 'old'`);
    await until('the old idempotency key is gone', async () => (await left()).length === 0);
    await until('the failure is logged', () => worker!.output().includes('"task":"maintenance"'));
  });

  test('a worker serves no portal', async () => {
    for (const path of ['/', '/webhooks'])
      expect((await fetch(`${worker!.url}${path}`, { headers: { accept: 'text/html' } })).status).toBe(404);
  });
});
