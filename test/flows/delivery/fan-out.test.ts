import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  operator,
  placeOrder,
  registerAccount,
  registerWebhook,
  type Account,
} from '../../support/client.js';
import { startService, type Service } from '../../support/harness.js';
import { startReceiver, type Receiver } from '../../support/receiver.js';

describe('fan-out', () => {
  let service: Service;
  let account: Account;
  let receiver: Receiver;

  beforeAll(async () => {
    service = await startService();
    account = await registerAccount(service);
    receiver = await startReceiver();
    await registerWebhook(account, receiver.url, { interests: ['CREATED', 'PICKED_UP'] });
  });
  afterAll(async () => {
    await receiver?.close();
    await service?.stop();
  });

  test('events with more deliveries than one statement can record in time are recorded in smaller ones', async () => {
    const trackingIds = await Promise.all(Array.from({ length: 40 }, () => placeOrder(account)));
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
  });

  test('an order with an id from a fast clock is created although its job was lost', async () => {
    const before = receiver.received.length;
    const [{ tracking_id }] = (await service.sql<{ tracking_id: string }>(
      `with ahead as (
         insert into shipments
         select (jsonb_populate_record(s, jsonb_build_object(
                  'shipment_id', overlay(gen_random_uuid()::text placing left(uuid_floor(now() + interval '1 hour')::text, 15) from 1 for 15),
                  'tracking_id', 'PHAHEAD', 'process_id', gen_random_uuid()))).*
           from shipments s limit 1
         returning shipment_id, tracking_id
       ), to_create as (
         insert into orders_to_create (shipment_id) select shipment_id from ahead
       )
       select tracking_id from ahead`,
    )) as [{ tracking_id: string }];
    await receiver.waitFor(
      1,
      ({ notification }) => notification.tracking_id === tracking_id && notification.state === 'CREATED',
    );
    expect(receiver.received).toHaveLength(before + 1);
  });
});
