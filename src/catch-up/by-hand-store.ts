import type { Database } from '../platform/database/postgres.js';
import { isErasedDelivery, isInRangeOf, owedByKey } from '../engine/engine.js';

export const redeliveriesPerDay = 100;

/** A limit beyond the attempts that a delivery can have in a day. */
const maxAttemptsRead = 500;

export interface Redeliverable {
  webhookId: string;
  targetAddress: string;
  /** Milliseconds until another redelivery may be requested; 0: now. */
  waitMs: number;
}

export async function findRedeliverable(
  db: Database,
  shipperId: string,
  deliveryId: string,
): Promise<Redeliverable | null> {
  const rows = await db.query<Redeliverable>(
    'find-redeliverable',
    `with d as materialized (
       select webhook_id, null::text as trigger, null::timestamptz as started_at from (${owedByKey('$1', '$2')}) o
       union all
       select webhook_id, trigger, started_at from deliveries where shipper_id = $1 and delivery_id = $2
     ), made as (
       select started_at from (
         select trigger, started_at from d
         union all
         (select trigger, started_at from attempts where delivery_id = $2 and shipper_id = $1
           order by number desc limit $4)
       ) a
        where trigger = 'MANUAL' and started_at > now() - interval '1 day' order by started_at desc offset $3 limit 1
     )
     select d.webhook_id as "webhookId", w.target_address as "targetAddress",
            coalesce((select extract(epoch from started_at + interval '1 day' - now()) * 1000 from made), 0)::float8 as "waitMs"
       from d cross join lateral (select target_address from webhooks where webhook_id = d.webhook_id limit 1) w`,
    [shipperId, deliveryId, redeliveriesPerDay - 1, maxAttemptsRead],
  );
  return rows[0] ?? null;
}

/**
 * Resolves with false if the delivery may not be redelivered or is not the shipper's. Because of the lock on the event,
 * an erasure either prevents the request or sees it. A request made before the webhook was stopped is renewed.
 */
export async function requestRedelivery(
  db: Database,
  shipperId: string,
  deliveryId: string,
): Promise<boolean> {
  const rows = await db.query(
    'request-redelivery',
    `with requested as (
       ${owedByKey('$1', '$2')}
       union all
       select shipper_id, delivery_id, webhook_id, event_id from deliveries
        where shipper_id = $1 and delivery_id = $2 and status <> 'CANCELLED'
     ), event as (
       select e.event_id from requested a join events e using (event_id)
        where ${isInRangeOf('e.event_id', '$2::uuid')} and e.erasure is distinct from 'DONE' for share of e
     )
     insert into redeliveries (shipper_id, delivery_id, webhook_id)
     select a.shipper_id, a.delivery_id, a.webhook_id from requested a join webhooks w using (webhook_id)
      where w.deleted_at is null and exists (select 1 from event) limit 1
     on conflict (delivery_id) do update
       set requested_at = case when redeliveries.lease_until is null then now() else redeliveries.requested_at end
     returning delivery_id`,
    [shipperId, deliveryId],
  );
  return rows.length > 0;
}

export async function isErased(db: Database, shipperId: string, deliveryId: string): Promise<boolean> {
  const rows = await db.query('is-erased', `select 1 where ${isErasedDelivery('$1::uuid', '$2::uuid')}`, [
    shipperId,
    deliveryId,
  ]);
  return rows.length > 0;
}
