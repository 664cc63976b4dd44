import { expect, test } from '@jest/globals';
import { operator, placeOrder, registerAccount, registerWebhook } from '../../support/client.js';
import { expectFailure, expectSuccess, untilState } from '../../support/expect.js';
import { startReceiver } from '../../support/receiver.js';
import { sharedService } from '../../support/shared-service.js';

const service = await sharedService();
const account = await registerAccount(service);
const cancel = (trackingId: string) => account.call(`/v1/shipments/${trackingId}/cancel`, { method: 'POST' });

test('a shipment that may be cancelled is: its webhooks are notified, and no state follows', async () => {
  const receiver = await startReceiver();
  await registerWebhook(account, receiver.url, { interests: ['CANCELLED'] });
  const trackingId = await placeOrder(account);
  await untilState(account, trackingId, 'CREATED');
  const cancelled = await cancel(trackingId);
  expectSuccess(cancelled, 202);
  const tracked = await untilState(account, trackingId, 'CANCELLED');
  expect((tracked.data.history as { state: string }[]).map(({ state }) => state)).toEqual([
    'CREATED',
    'CANCELLED',
  ]);
  const [received] = await receiver.waitFor(1);
  expect(received!.headers['webhook-id']).toBe(cancelled.data.eventId);
  expect(received!.notification).toMatchObject({ state: 'CANCELLED', tracking_id: trackingId });
  const again = await cancel(trackingId);
  expectFailure(again, 409);
  expect(again.body.error.message).toContain('nothing follows CANCELLED');
  await receiver.close();
});

test('an order is cancelled even before its shipment is created', async () => {
  const trackingId = await placeOrder(account);
  expectSuccess(await cancel(trackingId), 202);
  expect((await account.call(`/v1/shipment-tracking/${trackingId}`)).data.state).toBe('CANCELLED');
});

test('a shipment that is too far on its way is not, and the refusal says what it may become', async () => {
  const trackingId = await placeOrder(account);
  for (const state of ['PICKED_UP', 'IN_TRANSIT'])
    await operator(service, `/shipments/${trackingId}/events`, { body: { state } });
  const refused = await cancel(trackingId);
  expectFailure(refused, 409);
  expect(refused.body.error.message).toMatch(/from IN_TRANSIT to CANCELLED.*OUT_FOR_DELIVERY/);
  expect((await account.call(`/v1/shipment-tracking/${trackingId}`)).data.state).toBe('IN_TRANSIT');
});

test('a shipment that there is not is 404', async () => {
  for (const trackingId of ['PH1', 'order-1', '%00']) expectFailure(await cancel(trackingId), 404);
});
