import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import {
  placeOrder,
  operator,
  registerAccount,
  registerWebhook,
  type Account,
} from '../../support/client.js';
import { deliveriesOf, startHook, untilDelivery, untilFound } from '../../support/deliveries.js';
import { placeOrders } from '../../support/load.js';
import { startReceiver, type Receiver } from '../../support/receiver.js';
import { sharedService, type SharedService } from '../../support/shared-service.js';

let service: SharedService;
let account: Account;
let receiver: Receiver;

beforeAll(async () => {
  service = await sharedService('impatient');
  receiver = await startReceiver();
});
afterAll(() => receiver?.close());
beforeEach(async () => {
  account = await registerAccount(service);
});

test("an order becomes a signed notification in the specification's format", async () => {
  const { secret } = await registerWebhook(account, receiver.url);
  const trackingId = await placeOrder(account, 'A-1');
  const [received] = await receiver.waitFor(1, ({ notification }) => notification.tracking_id === trackingId);
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
    accept: '*/*',
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
  expect(second!.at - first!.at).toBeGreaterThanOrEqual(180);
  const { attempts } = await untilSettled(webhookId);
  expect(attempts).toMatchObject([
    { number: 2, trigger: 'SCHEDULED', statusCode: 200, errorCode: null },
    { number: 1, trigger: 'SCHEDULED', statusCode: 500, errorCode: 'HTTP_STATUS', responseBody: 'no' },
  ]);
  await flaky.close();
});

test('the delivery is FAILED after the last retry', async () => {
  const down = await startReceiver(() => ({ status: 503 }));
  const { webhookId } = await registerWebhook(account, down.url);
  await placeOrder(account);
  expect(await untilSettled(webhookId)).toMatchObject({
    status: 'FAILED',
    attemptCount: 4,
    nextAttemptAt: null,
  });
  expect(down.received).toHaveLength(4);
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

test('events with more deliveries than one statement can record in time are recorded in smaller ones', async () => {
  const { receiver, close } = await startHook(account, { interests: ['CREATED', 'PICKED_UP'] });
  const trackingIds = await placeOrders(account, 40);
  await receiver.waitFor(40);
  await service.sql(`create function slow() returns trigger language plpgsql as $$ begin
    if (select count(*) from made) > 10 then perform pg_sleep(10); end if; return null; end $$`);
  await service.sql(`create trigger slow after insert on events referencing new table as made
    for each statement execute function slow()`);
  const refused = { trackingId: 'PHNOBODY', state: 'PICKED_UP' };
  const events = [refused, ...trackingIds.map((trackingId) => ({ trackingId, state: 'PICKED_UP' }))];
  const { httpStatus, data } = await operator(service, '/events', { body: { events } });
  expect(httpStatus).toBe(202);
  expect((data.results as { eventId?: string }[]).filter(({ eventId }) => eventId)).toHaveLength(40);
  await receiver.waitFor(80);
  await service.sql('drop trigger slow on events; drop function slow');
  await close();
});

test('an order with an id from a fast clock is created although its job was lost', async () => {
  const { receiver, close } = await startHook(account);
  await placeOrder(account);
  const [{ tracking_id }] = (await service.sql<{ tracking_id: string }>(
    `with ahead as (
       insert into shipments
       select (jsonb_populate_record(s, jsonb_build_object(
                'shipment_id', overlay(gen_random_uuid()::text placing left(uuid_floor(now() + interval '1 hour')::text, 15) from 1 for 15),
                'tracking_id', 'PHAHEAD' || gen_random_uuid(), 'process_id', gen_random_uuid()))).*
         from shipments s where shipper_id = $1 limit 1
       returning shipment_id, tracking_id
     ), to_create as (
       insert into orders_to_create (shipment_id) select shipment_id from ahead
     )
     select tracking_id from ahead`,
    [account.shipperId],
  )) as [{ tracking_id: string }];
  await receiver.waitFor(
    1,
    ({ notification }) => notification.tracking_id === tracking_id && notification.state === 'CREATED',
  );
  await close();
});

async function untilSettled(webhookId: string) {
  const { deliveryId } = await untilFound(async () => (await deliveriesOf(account, webhookId))[0]);
  return untilDelivery(account, deliveryId, ({ status }) => !['PENDING', 'SENDING'].includes(status));
}
