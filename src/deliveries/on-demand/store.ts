import type { Database } from '../../platform/database/postgres.js';
import { isInRangeOf, isOwed, owedByKey, sameDelivery } from '../outbox/sql.js';

/** How many redeliveries of one delivery may be requested in any 24 hours. */
export const redeliveriesPerDay = 100;

/** Far more attempts than a delivery can have in a day, manual and scheduled ones together. */
const attemptsLookedAt = 500;

export interface Redeliverable {
  webhookId: string;
  targetAddress: string;
  /** How long until another manual attempt may be requested; 0: now. */
  waitMs: number;
}

/** Returns where a delivery goes and when it may be redelivered again; null if there is no such delivery. */
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
    [shipperId, deliveryId, redeliveriesPerDay - 1, attemptsLookedAt],
  );
  return rows[0] ?? null;
}

/**
 * Asks for one attempt outside the schedule. False where the delivery may have none or is not the shipper's. The lock
 * on the event makes an erasure either prevent it or see that it was asked for. A request made before the webhook was
 * stopped is renewed.
 */
export async function requestRedelivery(
  db: Database,
  shipperId: string,
  deliveryId: string,
): Promise<boolean> {
  const rows = await db.query(
    'request-redelivery',
    `with asked as (
       ${owedByKey('$1', '$2')}
       union all
       select shipper_id, delivery_id, webhook_id, event_id from deliveries
        where shipper_id = $1 and delivery_id = $2 and status <> 'CANCELLED'
     ), told as (
       select e.event_id from asked a join events e using (event_id)
        where ${isInRangeOf('e.event_id', '$2::uuid')} and e.erasure is distinct from 'DONE' for share of e
     )
     insert into redeliveries (shipper_id, delivery_id, webhook_id)
     select a.shipper_id, a.delivery_id, a.webhook_id from asked a join webhooks w using (webhook_id)
      where w.deleted_at is null and exists (select 1 from told) limit 1
     on conflict (delivery_id) do update
       set requested_at = case when redeliveries.lease_until is null then now() else redeliveries.requested_at end
     returning delivery_id`,
    [shipperId, deliveryId],
  );
  return rows.length > 0;
}

/** Whether what the delivery tells was erased. */
export async function isErased(db: Database, shipperId: string, deliveryId: string): Promise<boolean> {
  const rows = await db.query(
    'is-erased',
    `select 1 from (
       select event_id from (${owedByKey('$1', '$2')}) o
       union all
       select event_id from deliveries where shipper_id = $1 and delivery_id = $2) d
       join events using (event_id) where ${isInRangeOf('event_id', '$2::uuid')} and erasure = 'DONE'`,
    [shipperId, deliveryId],
  );
  return rows.length > 0;
}

/** Whether anything was asked for by hand that is not over. */
export async function isAnythingAsked(db: Database): Promise<boolean> {
  return (await db.query('is-anything-asked', 'select 1 from redeliveries limit 1')).length > 0;
}

/** Attempts by hand that wait, the longest waiting first, of each webhook at most `perWebhook`. */
export async function findWaiting(db: Database, perWebhook: number, limit: number): Promise<string[]> {
  const rows = await db.query<{ delivery_id: string }>(
    'find-waiting-redeliveries',
    `select delivery_id from (
       select delivery_id, requested_at,
              row_number() over (partition by webhook_id order by requested_at) as place
         from redeliveries where lease_until is null
     ) waiting
      where place <= $1 order by requested_at limit $2`,
    [perWebhook, limit],
  );
  return rows.map((row) => row.delivery_id);
}

/** Drops what was asked for and may not be sent any more: cancelled, deleted, suspended, or stopped since. */
export async function dropVoid(db: Database): Promise<void> {
  await db.query(
    'drop-void-redeliveries',
    `delete from redeliveries r using webhooks w
      where r.lease_until is null and w.webhook_id = r.webhook_id
        and (w.deleted_at is not null or w.suspended or (w.status <> 'ACTIVE' and r.requested_at <= w.stopped_at)
             or (not ${isOwed('r')}
                 and not exists (select 1 from deliveries d where ${sameDelivery('d', 'r')} and d.status <> 'CANCELLED')))`,
  );
}
