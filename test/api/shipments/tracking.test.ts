import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  operator,
  placeOrder,
  registerAccount,
  registerWebhook,
  sampleOrder,
  type Account,
} from '../../support/client.js';
import { backends, startProcess, startService, stopProcess, type Service } from '../../support/harness.js';
import { startReceiver, type Receiver } from '../../support/receiver.js';
import { expectFailure, expectRecent, expectSuccess, untilState, uuidForm } from '../../support/expect.js';

describe.each(backends)('tracking with the queue on %s', (backend) => {
  let service: Service;
  let account: Account;
  let receiver: Receiver;

  beforeAll(async () => {
    service = await startService({ backend });
    account = await registerAccount(service);
    receiver = await startReceiver();
  });
  afterAll(async () => {
    await receiver?.close();
    await service?.stop();
  });

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
    expect(Object.keys(response.data)).toEqual([
      'trackingId',
      'shipmentId',
      'shipperTrackingId',
      'state',
      'history',
    ]);
    expectRecent(response.data.history[0].timestamp as number);
  });

  test('an order is found at once, without state and history until it is created', async () => {
    const trackingId = await placeOrder(account);
    const response = await account.call(`/v1/shipment-tracking/${trackingId}`);
    expectSuccess(response, 200);
    const { state, history } = response.data as { state: string | null; history: object[] };
    expect([null, 'CREATED']).toContain(state);
    expect(history).toHaveLength(state === null ? 0 : 1);
  });

  test('creation normally takes less than 100 ms', async () => {
    const durations: number[] = [];
    for (let n = 0; n < 15; n += 1) {
      const trackingId = await placeOrder(account);
      const acceptedAt = performance.now();
      await untilState(account, trackingId, 'CREATED');
      durations.push(performance.now() - acceptedAt);
    }
    durations.sort((a, b) => a - b);
    expect(durations[7]).toBeLessThan(100);
  });

  test('a webhook interested in CREATED is notified, another is not', async () => {
    const { webhookId } = await registerWebhook(account, receiver.url, { interests: ['CREATED'] });
    const silent = await startReceiver();
    await registerWebhook(account, silent.url, { interests: ['DELIVERED'] });
    const trackingId = await placeOrder(account, 'B-2');
    const [received] = await receiver.waitFor(
      1,
      ({ notification }) => notification.tracking_id === trackingId,
    );
    expect(received!.notification).toMatchObject({ state: 'CREATED', label_id: 'B-2' });
    expect(silent.received).toHaveLength(0);
    await silent.close();
    await account.call(`/v1/webhooks/${webhookId}`, { method: 'DELETE' });
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
    expect(Object.keys(data.history[1])).toEqual([
      'state',
      'timestamp',
      'lat',
      'lng',
      'anomalies',
      'evidences',
    ]);
  });

  test('a hundred concurrent orders all become shipments, each once', async () => {
    const trackingIds = await Promise.all(
      Array.from({ length: 100 }, (_, n) => placeOrder(account, `M-${n}`)),
    );
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
});

describe.each(backends)('an api alone with the queue on %s', (backend) => {
  test('accepts orders without a worker: state null, history empty; a later worker creates them', async () => {
    const service = await startService({ backend, role: 'api' });
    try {
      const account = await registerAccount(service);
      const trackingId = await placeOrder(account);
      const waiting = await account.call(`/v1/shipment-tracking/${trackingId}`);
      expectSuccess(waiting, 200);
      expect(waiting.data).toEqual({
        trackingId,
        shipmentId: expect.stringMatching(uuidForm),
        shipperTrackingId: 'SHIPPER-1',
        state: null,
        history: [],
      });
      const worker = await startProcess(service.env, 'worker');
      await untilState(account, trackingId, 'CREATED');
      await stopProcess(worker);

      // An event of the operator does not wait for a worker: it creates the shipment.
      const next = await placeOrder(account);
      const event = { body: { state: 'PICKED_UP' } };
      expectSuccess(await operator(service, `/shipments/${next}/events`, event), 202);
      const { data } = await account.call(`/v1/shipment-tracking/${next}`);
      expect(data.history.map(({ state }: { state: string }) => state)).toEqual(['CREATED', 'PICKED_UP']);
    } finally {
      await service.stop();
    }
  });
});
