import { newId } from '../../../src/platform/ids.js';
import type { Account } from '../../client.js';
import type { Service } from '../../harness.js';

/** As if the time until the delivery's retry were over; with nobody told, so that a sweep sends it. */
export const hasten = (service: Service, deliveryId: string) =>
  service.sql(`update outbox set due_at = now() - interval '1 minute' where delivery_id = $1`, [deliveryId]);

/** Asks for a redelivery without telling a worker: only a sweep sees it. */
export const askUnheard = (service: Service, deliveryId: string) =>
  service.sql(
    `insert into redeliveries (shipper_id, delivery_id, webhook_id)
     select shipper_id, delivery_id, webhook_id from deliveries where delivery_id = $1`,
    [deliveryId],
  );

/** A test whose process was killed during its attempt, and whose lease has run out; its deliveryId. */
export async function insertLostTest(
  service: Service,
  { shipperId }: Account,
  webhookId: string,
): Promise<string> {
  const [row] = await service.sql<{ delivery_id: string }>(
    `with recorded as (
       insert into events (event_id, shipper_id, sequence, state, recorded_at, body)
       values ($1, $2, 1, 'CREATED', now(), '{}') returning event_id)
     insert into outbox (shipper_id, delivery_id, event_id, webhook_id, sequence, state, status, due_at, lease_until,
                         attempt_count, trigger)
     select $2, delivery_id(event_id, $3), event_id, $3, 1, 'CREATED', 'SENDING', now(), now(), 1, 'TEST'
       from recorded
     returning delivery_id`,
    [newId(), shipperId, webhookId],
  );
  return row!.delivery_id;
}
