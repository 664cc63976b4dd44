import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  operator,
  placeOrder,
  registerAccount,
  registerWebhook,
  type Account,
} from '../../support/client.js';
import { untilFound } from '../../support/deliveries.js';
import { startService, type Service } from '../../support/harness.js';
import { startReceiver, type Receiver, type Reply } from '../../support/receiver.js';
import { expectSuccess, offsetForm, untilState } from '../../support/expect.js';

type Shown = Record<string, unknown> & { deliveryId: string; status: string };

let service: Service;
let account: Account;
const receivers: Receiver[] = [];

beforeAll(async () => {
  service = await startService({ env: { RETRY_SCHEDULE: '1h' } });
  account = await registerAccount(service);
});
afterAll(async () => {
  await Promise.all(receivers.map((receiver) => receiver.close()));
  await service?.stop();
});

/** Undefined: no response at all. */
async function register(response: () => Reply | undefined, fields: object = {}) {
  const receiver = await startReceiver(response);
  receivers.push(receiver);
  const { webhookId } = await registerWebhook(account, receiver.url, fields);
  return { webhookId, receiver };
}
const list = async (query: string): Promise<Shown[]> => {
  const response = await account.call(`/v1/deliveries?limit=250&${query}`);
  expectSuccess(response, 200);
  return response.data.deliveries as Shown[];
};
const untilShown = (webhookId: string, status: string, count = 1): Promise<Shown[]> =>
  untilFound(async () => {
    const found = (await list(`webhookId=${webhookId}`)).filter((delivery) => delivery.status === status);
    return found.length === count && found;
  });
const order = async () => {
  const trackingId = await placeOrder(account);
  await untilState(account, trackingId, 'CREATED');
  return trackingId;
};
const statuses = ['PENDING', 'SENDING', 'HELD', 'SUCCEEDED', 'FAILED', 'CANCELLED'];

/** Expects them by their own status, alone and with the webhook, by no other status, and by id. */
async function expectFoundBy(status: string, webhookId: string, deliveries: Shown[]): Promise<void> {
  const ids = deliveries.map(({ deliveryId }) => deliveryId);
  expect((await list(`status=${status}&webhookId=${webhookId}`)).map((one) => one.deliveryId)).toEqual(ids);
  expect((await list(`status=${status}`)).map((one) => one.deliveryId)).toEqual(expect.arrayContaining(ids));
  for (const other of statuses.filter((one) => one !== status))
    for (const { deliveryId } of await list(`status=${other}&webhookId=${webhookId}`))
      expect(ids).not.toContain(deliveryId);
  for (const shown of deliveries) {
    const { data } = await account.call(`/v1/deliveries/${shown.deliveryId}`);
    expect(data).toMatchObject(shown);
  }
}

const waiting = { heldBy: null, nextProbeAt: null, reason: null, completedAt: null };

describe('the log of owed deliveries', () => {
  test('an attempt under way is SENDING: it counts, but is not the last attempt yet', async () => {
    const { webhookId } = await register(() => undefined);
    await order();
    const sending = await untilShown(webhookId, 'SENDING');
    expect(sending[0]).toMatchObject({ ...waiting, attemptCount: 1, lastAttempt: null });
    await expectFoundBy('SENDING', webhookId, sending);
    await account.call(`/v1/webhooks/${webhookId}`, { method: 'DELETE' });
  });

  test('after a failure it is PENDING until the next attempt, and shows the previous attempt', async () => {
    const { webhookId } = await register(() => ({ status: 503 }));
    await order();
    const pending = await untilShown(webhookId, 'PENDING');
    expect(pending[0]).toMatchObject({
      ...waiting,
      attemptCount: 1,
      lastAttempt: {
        startedAt: expect.stringMatching(offsetForm),
        durationMs: expect.any(Number),
        statusCode: 503,
        errorCode: 'HTTP_STATUS',
      },
      nextAttemptAt: expect.stringMatching(offsetForm),
    });
    const inMs = Date.parse(pending[0]!.nextAttemptAt as string) - Date.now();
    expect(inMs).toBeGreaterThan(50 * 60_000);
    expect(inMs).toBeLessThan(67 * 60_000);
    await expectFoundBy('PENDING', webhookId, pending);
    const found = (query: string) => list(`webhookId=${webhookId}&${query}`);
    expect(await found('statusCode=503')).toEqual(pending);
    expect(await found('errorCode=HTTP_STATUS&status=PENDING')).toEqual(pending);
    expect(await found('statusCode=500')).toEqual([]);
    await account.call(`/v1/webhooks/${webhookId}`, { method: 'DELETE' });
  });

  test('behind an earlier state it is HELD by its TURN; in a paused webhook or after a 410, by that', async () => {
    const response = { status: 503 };
    const { webhookId } = await register(() => ({ ...response }));
    const trackingId = await order();
    await untilShown(webhookId, 'PENDING');
    await operator(service, `/shipments/${trackingId}/events`, { body: { state: 'PICKED_UP' } });
    const behind = await untilShown(webhookId, 'HELD');
    const none = { nextProbeAt: null, attemptCount: 0, lastAttempt: null, nextAttemptAt: null };
    expect(behind[0]).toMatchObject({ ...none, state: 'PICKED_UP', heldBy: 'TURN' });
    await expectFoundBy('HELD', webhookId, behind);

    await account.call(`/v1/webhooks/${webhookId}`, { method: 'PATCH', body: { status: 'PAUSED' } });
    await order();
    const paused = await untilShown(webhookId, 'HELD', 2);
    for (const one of paused) expect(one).toMatchObject({ ...none, heldBy: 'PAUSED' });
    await expectFoundBy('HELD', webhookId, paused);

    response.status = 410;
    await account.call(`/v1/webhooks/${webhookId}`, { method: 'PATCH', body: { status: 'ACTIVE' } });
    const disabled = await untilFound(async () => {
      const held = await untilShown(webhookId, 'HELD', 2);
      return held.every(({ heldBy }) => heldBy === 'DISABLED') && held;
    });
    await expectFoundBy('HELD', webhookId, disabled);
    await account.call(`/v1/webhooks/${webhookId}`, { method: 'DELETE' });
  });

  test('while the circuit is open it is HELD by CIRCUIT, and shows when the circuit is tested next', async () => {
    const { webhookId, receiver } = await register(() => ({ status: 500 }), { interests: ['CREATED'] });
    for (let n = 0; n < 10; n += 1) await order();
    await receiver.waitFor(10);
    await untilFound(async () => {
      const { data } = await account.call(`/v1/webhooks/${webhookId}`);
      return (data.health as { circuit: string }).circuit === 'OPEN';
    });
    await order();
    const [held] = await untilShown(webhookId, 'HELD');
    expect(held).toMatchObject({ heldBy: 'CIRCUIT', attemptCount: 0, nextAttemptAt: null });
    const probeInMs = Date.parse(held!.nextProbeAt as string) - Date.now();
    expect(probeInMs).toBeGreaterThan(0);
    expect(probeInMs).toBeLessThanOrEqual(30_000);
    await expectFoundBy('HELD', webhookId, [held!]);
    // The failed ones are retried in an hour, whatever the circuit does.
    expect(await untilShown(webhookId, 'PENDING', 10)).toHaveLength(10);
    await account.call(`/v1/webhooks/${webhookId}`, { method: 'DELETE' });
  });
});
