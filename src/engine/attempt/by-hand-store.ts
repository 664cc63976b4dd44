import type { Database } from '../../platform/database/postgres.js';
import { isErasedDelivery } from '../outbox/by-hand.js';
import { oweTest } from '../outbox/insert.js';
import { isTroubled, isInRangeOf, isOwed, owedByKey, sameDelivery, traceOf } from '../outbox/sql.js';
import type { Claim } from '../outbox/types.js';

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
 * False if the delivery may have none or is not the shipper's. Because of the lock on the event, an erasure either
 * prevents the request or sees it. A request made before the webhook was stopped is renewed.
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

export async function hasRedeliveries(db: Database): Promise<boolean> {
  return (await db.query('has-redeliveries', 'select 1 from redeliveries limit 1')).length > 0;
}

/**
 * Shippers take turns; of each, those that have waited longest come first. Webhooks and shippers in `full` are left
 * out.
 */
export async function findWaitingRedeliveries(
  db: Database,
  full: { webhooks: string[]; shippers: string[] },
  { perWebhook, limit }: { perWebhook: number; limit: number },
): Promise<string[]> {
  const rows = await db.query<{ delivery_id: string }>(
    'find-waiting-redeliveries',
    `select delivery_id from (
       select delivery_id, requested_at,
              row_number() over (partition by webhook_id order by requested_at) as place,
              row_number() over (partition by shipper_id order by requested_at) as place_of_shipper
         from redeliveries
        where lease_until is null and webhook_id <> all($3::uuid[]) and shipper_id <> all($4::uuid[])
     ) waiting
      where place <= $1 order by place_of_shipper, requested_at limit $2`,
    [perWebhook, limit, full.webhooks, full.shippers],
  );
  return rows.map((row) => row.delivery_id);
}

/** Deletes requests whose delivery is cancelled or whose webhook is deleted, suspended or was stopped since. */
export async function deleteVoidRedeliveries(db: Database): Promise<void> {
  await db.query(
    'delete-void-redeliveries',
    `delete from redeliveries r using webhooks w
      where r.lease_until is null and w.webhook_id = r.webhook_id
        and (w.deleted_at is not null or w.suspended or (w.status <> 'ACTIVE' and r.requested_at <= w.stopped_at)
             or (not ${isOwed('r')}
                 and not exists (select 1 from deliveries d where ${sameDelivery('d', 'r')} and d.status <> 'CANCELLED')))`,
  );
}

interface SampleEvent {
  eventId: string;
  state: string;
  body: string;
}

/**
 * The delivery is already claimed. Because of the lock on the webhook, a deletion either prevents the test or sees it.
 * Null without the webhook, or if its shipper is suspended.
 */
export async function insertTest(
  db: Database,
  shipperId: string,
  webhookId: string,
  event: SampleEvent,
  leaseMs: number,
): Promise<Claim | null> {
  const rows = await db.query<Pick<Claim, 'deliveryId' | 'revision' | 'troubled' | 'recordedAt' | 'trace'>>(
    'insert-test',
    `with w as (
       select * from webhooks where webhook_id = $2 and shipper_id = $1 and deleted_at is null and not suspended for share
     ), recorded as (
       insert into events (event_id, shipper_id, sequence, state, recorded_at, body)
       select $3, shipper_id, 1, $4, now(), $5 from w
       returning event_id, trace
     ), owed as (
       ${oweTest('select shipper_id, $3::uuid as event_id, webhook_id, $4::text as state from w', '$6')}
     )
     select o.delivery_id as "deliveryId", w.revision, now() as "recordedAt",
            exists (select 1 from circuits c where c.webhook_id = w.webhook_id and ${isTroubled('c')}) as troubled,
            ${traceOf('e')} as trace
       from w, owed o, recorded e`,
    [shipperId, webhookId, event.eventId, event.state, event.body, leaseMs],
  );
  const [row] = rows;
  if (!row) return null;
  return {
    ...row,
    shipperId,
    webhookId,
    eventId: event.eventId,
    body: event.body,
    shipmentId: null,
    sequence: 1,
    number: 1,
    trigger: 'TEST',
    failureCount: 0,
    ordered: false,
    supersedes: false,
    isProbe: false,
    erased: false,
  };
}
