import type { Database } from '../platform/postgres.js';
import type { Claim } from './store.js';

export interface SampleEvent {
  eventId: string;
  state: string;
  body: string;
}

/**
 * Records a test: an event that belongs to no shipment, and its delivery, claimed from the start. The lock on the
 * webhook makes a deletion either prevent the test or see that it is under way. Null without that webhook.
 */
export async function insertTest(
  db: Database,
  shipperId: string,
  webhookId: string,
  event: SampleEvent,
  leaseMs: number,
): Promise<Claim | null> {
  const rows = await db.query<Claim>(
    'insert-test',
    `with target as (
       select * from webhooks where webhook_id = $2 and shipper_id = $1 and deleted_at is null for share
     ), recorded as (
       insert into events (event_id, shipper_id, sequence, state, occurred_at, recorded_at, body)
       select $3, shipper_id, 1, $4, now(), now(), $5 from target
     ), owed as (
       insert into deliveries (delivery_id, event_id, webhook_id, state, status, trigger, attempt_count, claimed,
                               manual_requested_at, manual_lease_until)
       select delivery_id($3, webhook_id), $3, webhook_id, $4, 'PENDING', 'TEST', 1, true, now(),
              now() + make_interval(secs => $6::float8 / 1000)
         from target
       returning delivery_id
     )
     select o.delivery_id as "deliveryId", 1 as number, 'TEST' as trigger, 0 as "failureCount",
            w.webhook_id as "webhookId", $3::uuid as "eventId", $5 as body, now() as "recordedAt", 1 as sequence,
            w.target_address as "targetAddress", w.headers,
            exists (select 1 from circuits c where c.webhook_id = w.webhook_id) as troubled,
            case when w.previous_secret_until > now() then array[w.secret, w.previous_secret]
                 else array[w.secret] end as secrets
       from target w, owed o`,
    [shipperId, webhookId, event.eventId, event.state, event.body, leaseMs],
  );
  return rows[0] ?? null;
}
