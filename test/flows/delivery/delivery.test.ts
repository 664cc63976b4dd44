import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import {
  placeOrder,
  operator,
  registerAccount,
  registerWebhook,
  type Account,
} from '../../support/client.js';
import { backends, startService, type Service } from '../../support/harness.js';
import { startReceiver, type Receiver } from '../../support/receiver.js';

describe.each(backends)('delivery with the queue on %s', (backend) => {
  let service: Service;
  let account: Account;
  let receiver: Receiver;

  beforeAll(async () => {
    service = await startService({ backend, env: { RETRY_SCHEDULE: '300ms,600ms', DELIVERY_TIMEOUT: '1s' } });
    account = await registerAccount(service);
    receiver = await startReceiver();
  });
  afterAll(async () => {
    await receiver?.close();
    await service?.stop();
  });

  test("an order becomes a signed notification in the specification's format", async () => {
    const { secret } = await registerWebhook(account, receiver.url);
    const trackingId = await placeOrder(account, 'A-1');
    const [received] = await receiver.waitFor(
      1,
      ({ notification }) => notification.tracking_id === trackingId,
    );
    expect(new Webhook(secret).verify(received!.body, received!.headers as Record<string, string>)).toEqual({
      state: 'CREATED',
      label_id: 'A-1',
      anomalies: null,
      evidences: [],
      tracking_id: trackingId,
      shipper_tracking_id: 'A-1',
      timestamp: expect.any(Number),
      lat: null,
      lng: null,
    });
    expect(received!.headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': expect.stringMatching(/^Parcelhook\/\d/),
      'parcelhook-sequence': '1',
      'parcelhook-attempt': '1',
    });
  });

  test('a failed attempt is retried with the same id and bytes, and the log shows both', async () => {
    let failures = 1;
    const flaky = await startReceiver(() => (failures-- > 0 ? { status: 500, body: 'no' } : {}));
    const { webhookId } = await registerWebhook(account, flaky.url);
    await placeOrder(account);
    const [first, second] = await flaky.waitFor(2);
    expect(second!.headers['webhook-id']).toBe(first!.headers['webhook-id']);
    expect(second!.body).toBe(first!.body);
    expect(second!.headers['parcelhook-attempt']).toBe('2');
    expect(second!.at - first!.at).toBeGreaterThanOrEqual(270);
    const { data } = await untilSettled(webhookId);
    expect(data.attempts).toMatchObject([
      { number: 2, trigger: 'SCHEDULED', statusCode: 200, errorCode: null },
      { number: 1, trigger: 'SCHEDULED', statusCode: 500, errorCode: 'HTTP_STATUS', responseBody: 'no' },
    ]);
    await flaky.close();
  });

  test('the delivery is FAILED after the last retry', async () => {
    const down = await startReceiver(() => ({ status: 503 }));
    const { webhookId } = await registerWebhook(account, down.url);
    await placeOrder(account);
    const { data } = await untilSettled(webhookId);
    expect(data).toMatchObject({ status: 'FAILED', attemptCount: 3, nextAttemptAt: null });
    expect(down.received).toHaveLength(3);
    await down.close();
  });

  test('a state event reaches only webhooks interested in that state', async () => {
    const created = await startReceiver();
    const pickedUp = await startReceiver();
    await registerWebhook(account, created.url, { interests: ['CREATED'] });
    await registerWebhook(account, pickedUp.url, { interests: ['PICKED_UP'] });
    const trackingId = await placeOrder(account);
    await created.waitFor(1);
    const event = await operator(service, `/shipments/${trackingId}/events`, {
      body: { state: 'PICKED_UP' },
    });
    expect(event.httpStatus).toBe(202);
    const [received] = await pickedUp.waitFor(1);
    expect(received!.headers['webhook-id']).toBe(event.data.eventId);
    expect(received!.headers['parcelhook-sequence']).toBe('2');
    expect(created.received).toHaveLength(1);
    expect(pickedUp.received).toHaveLength(1);
    await Promise.all([created.close(), pickedUp.close()]);
  });

  async function untilSettled(webhookId: string) {
    for (;;) {
      const { data } = await account.call(`/v1/deliveries?webhookId=${webhookId}`);
      const [delivery] = data.deliveries as { deliveryId: string; status: string }[];
      if (delivery && !['PENDING', 'SENDING'].includes(delivery.status))
        return account.call(`/v1/deliveries/${delivery.deliveryId}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
});
