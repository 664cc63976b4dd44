import type { Database } from '../../platform/database/postgres.js';
import type { ErasedShipment } from '../../history/retention/cancel-erased.js';
import { ms } from '../../engine/engine.js';

export interface OrderText {
  shipmentId: string;
  order: string;
}

export const findOrders = (tx: Database, shipmentIds: string[]): Promise<OrderText[]> =>
  tx.query<OrderText>(
    'find-orders',
    `select shipment_id as "shipmentId", order_data as "order" from shipments
      where shipment_id = any($1::uuid[]) order by shipment_id`,
    [shipmentIds],
  );

/** Idempotency keys then accept any body: the first one's hash could be searched for a name or a phone number. */
export async function saveErasedOrders(tx: Database, orders: OrderText[]): Promise<void> {
  await tx.query(
    'save-erased-orders',
    `with saved as (
       update shipments s set order_data = i.order_data
         from unnest($1::uuid[], $2::text[]) as i (shipment_id, order_data)
        where s.shipment_id = any(array[i.shipment_id])
       returning s.shipment_id, s.accepted_at
     )
     update idempotency_keys k set body_hash = ''
       from saved s where k.created_at = any(array[s.accepted_at]) and k.shipment_id = s.shipment_id`,
    [orders.map(({ shipmentId }) => shipmentId), orders.map(({ order }) => order)],
  );
}

/** Call it in the transaction of an erasure: its owed deliveries have to be cancelled once more. */
export async function noteUnderWay(tx: Database, shipments: ErasedShipment[]): Promise<void> {
  await tx.query(
    'note-erasures-under-way',
    `insert into erasures_under_way (shipment_id) select unnest($1::uuid[]) order by 1 on conflict do nothing`,
    [shipments.map(({ shipmentId }) => shipmentId)],
  );
}

export const findUnderWay = (db: Database, after: string | null, limit: number): Promise<ErasedShipment[]> =>
  db.query<ErasedShipment>(
    'find-erasures-under-way',
    `select u.shipment_id as "shipmentId", p.shipper_id as "shipperId"
       from (select shipment_id from erasures_under_way
              where shipment_id > coalesce($1::uuid, '00000000-0000-0000-0000-000000000000')
              order by shipment_id limit $2) u
      cross join lateral (
        select shipper_id from shipment_progress where shipment_id = u.shipment_id limit 1) p`,
    [after, limit],
  );

/** Skips rows that another process is removing. */
export async function forgetUnderWay(db: Database, shipments: ErasedShipment[]): Promise<void> {
  await db.query(
    'forget-erasures-under-way',
    `with finished as materialized (
       select shipment_id from erasures_under_way where shipment_id = any($1::uuid[]) for update skip locked
     )
     delete from erasures_under_way u using finished f where u.shipment_id = any(array[f.shipment_id])`,
    [shipments.map(({ shipmentId }) => shipmentId)],
  );
}

export interface Candidate {
  shipmentId: string;
  lastStateAt: Date;
  erased: boolean;
}

/** Shipments in the order of acceptance, longer ago than the retention, by the time in their ids. */
export const nextAccepted = (db: Database, retentionMs: number, limit: number): Promise<Candidate[]> =>
  db.query<Candidate>(
    'next-accepted',
    `select shipment_id as "shipmentId", updated_at as "lastStateAt", erased_at is not null as erased
       from shipment_progress
      where shipment_id > (select last_shipment_id from erasure_walk)
        and shipment_id < uuid_floor(now() - ${ms('$1')})
      order by shipment_id limit $2`,
    [retentionMs, limit],
  );

/** One without a row of its own is gone. */
export const nextAgain = (db: Database, retentionMs: number, limit: number): Promise<Candidate[]> =>
  db.query<Candidate>(
    'next-again',
    `select e.shipment_id as "shipmentId", coalesce(p.updated_at, e.last_state_at) as "lastStateAt",
            p.shipment_id is null or p.erased_at is not null as erased
       from (select * from shipments_to_erase where last_state_at < now() - ${ms('$1')}
              order by last_state_at limit $2) e
       left join lateral (
         select shipment_id, updated_at, erased_at from shipment_progress where shipment_id = e.shipment_id limit 1) p
         on true`,
    [retentionMs, limit],
  );

/** All of `checked` but `done` need another check; the walk continues after `last`. */
export async function saveChecked(
  db: Database,
  checked: Candidate[],
  done: ReadonlySet<string>,
  last: string | null,
): Promise<void> {
  const later = checked.filter(({ shipmentId }) => !done.has(shipmentId));
  await db.query(
    'save-checked',
    `with gone as (
       delete from shipments_to_erase where shipment_id = any($1::uuid[])
     ), later as (
       insert into shipments_to_erase (shipment_id, last_state_at)
       select * from unnest($2::uuid[], $3::timestamptz[]) as l (shipment_id, last_state_at) order by 1
       on conflict (shipment_id) do update set last_state_at = excluded.last_state_at
     )
     update erasure_walk set last_shipment_id = $4 where last_shipment_id < $4::uuid`,
    [[...done], later.map(({ shipmentId }) => shipmentId), later.map(({ lastStateAt }) => lastStateAt), last],
  );
}
