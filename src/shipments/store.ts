import { eventsOf } from '../deliveries/outbox/sql.js';
import type { Database } from '../platform/database/postgres.js';
import type { DropoffLocation, Order } from './order.js';

/** An order as it is committed before the 201. */
export interface AcceptedOrder {
  shipmentId: string;
  shipperId: string;
  processId: string;
  trackingId: string;
  order: Order;
  dropoffLocation: DropoffLocation;
  acceptedAt: Date;
  /** Idempotency key and hash of the body it came with, where the caller sent one. */
  idempotency: { key: string; bodyHash: Buffer } | null;
}

/**
 * Commits many orders in one statement. An order whose idempotency key is taken, by an earlier request or by
 * another of the same batch, is left out. Answers the shipmentIds that were stored.
 */
export async function insertOrders(db: Database, orders: AcceptedOrder[]): Promise<Set<string>> {
  const rows = await db.query<{ shipment_id: string }>(
    'insert-orders',
    `with input as (
       select * from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[],
                            $8::timestamptz[], $9::text[], $10::bytea[])
         as t (shipment_id, shipper_id, process_id, tracking_id, shipper_tracking_id, order_data, dropoff_location,
               accepted_at, key, body_hash)
     ), claimed as (
       insert into idempotency_keys (shipper_id, key, body_hash, shipment_id, created_at)
       select shipper_id, key, body_hash, shipment_id, accepted_at from input where key is not null
        order by shipper_id, key -- two statements that wait for each other's keys would be a deadlock
       on conflict do nothing
       returning shipment_id
     ), stored as (
       insert into shipments (shipment_id, shipper_id, process_id, tracking_id, shipper_tracking_id, order_data,
                              dropoff_location, accepted_at)
       select shipment_id, shipper_id, process_id, tracking_id, shipper_tracking_id, order_data, dropoff_location,
              accepted_at
         from input
        where key is null or coalesce(shipment_id in (select shipment_id from claimed), false)
       returning shipment_id
     )
     insert into orders_to_create (shipment_id) select shipment_id from stored returning shipment_id`,
    [
      orders.map((order) => order.shipmentId),
      orders.map((order) => order.shipperId),
      orders.map((order) => order.processId),
      orders.map((order) => order.trackingId),
      orders.map((order) => order.order.shipperTrackingId),
      orders.map((order) => JSON.stringify(order.order)),
      orders.map((order) => JSON.stringify(order.dropoffLocation)),
      orders.map((order) => order.acceptedAt),
      orders.map((order) => order.idempotency?.key ?? null),
      orders.map((order) => order.idempotency?.bodyHash ?? null),
    ],
  );
  return new Set(rows.map((row) => row.shipment_id));
}

export type EarlierOrder = Omit<AcceptedOrder, 'idempotency' | 'shipperId'> & { bodyHash: Buffer };

/** The order first accepted under an idempotency key in the last 24 hours. */
export async function findByIdempotencyKey(
  db: Database,
  shipperId: string,
  key: string,
): Promise<EarlierOrder | null> {
  const rows = await db.query<
    Omit<EarlierOrder, 'order' | 'dropoffLocation'> & Record<'order' | 'dropoffLocation', string>
  >(
    'find-by-idempotency-key',
    `select k.body_hash as "bodyHash", s.shipment_id as "shipmentId", s.process_id as "processId",
            s.tracking_id as "trackingId", s.order_data as "order", s.dropoff_location as "dropoffLocation",
            s.accepted_at as "acceptedAt"
       from idempotency_keys k join shipments s using (shipment_id)
      where k.shipper_id = $1 and k.key = $2 and k.created_at > now() - interval '24 hours'`,
    [shipperId, key],
  );
  const [row] = rows;
  if (!row) return null;
  return {
    ...row,
    order: JSON.parse(row.order) as Order,
    dropoffLocation: JSON.parse(row.dropoffLocation) as DropoffLocation,
  };
}

/** Frees an idempotency key that is older than 24 hours. */
export async function deleteExpiredIdempotencyKey(
  db: Database,
  shipperId: string,
  key: string,
): Promise<void> {
  await db.query(
    'delete-expired-idempotency-key',
    `delete from idempotency_keys
      where shipper_id = $1 and key = $2 and created_at <= now() - interval '24 hours'`,
    [shipperId, key],
  );
}

export interface TrackedShipment {
  trackingId: string;
  shipmentId: string;
  shipperTrackingId: string;
  state: string | null;
  /** The notifications of its latest events, as many as fit in an answer, in the order recorded. */
  bodies: string[];
}

/** A shipment may reach any number of states, each with any evidences: the events' feed has them all. */
const historyBounds = { states: 1_000, bytes: 4 * 1024 ** 2 };

export async function findTracking(
  db: Database,
  shipperId: string,
  trackingId: string,
): Promise<TrackedShipment | null> {
  const rows = await db.query<TrackedShipment>(
    'find-tracking',
    `select s.tracking_id as "trackingId", s.shipment_id as "shipmentId",
            s.shipper_tracking_id as "shipperTrackingId",
            (select state from shipment_progress p where p.shipment_id = s.shipment_id) as state,
            array(select body from (
                    select sequence, body, sum(octet_length(body)) over (order by sequence desc) - octet_length(body) as newer_bytes
                      from ${eventsOf('s.shipment_id', 'sequence, body', 'true order by sequence desc limit $3')} newest) sized
                   where newer_bytes < $4 order by sequence) as bodies
       from shipments s where s.tracking_id = $2 and s.shipper_id = $1`,
    [shipperId, trackingId, historyBounds.states, historyBounds.bytes],
  );
  return rows[0] ?? null;
}

/** Orders accepted before `olderThanMs` ago whose shipment still is not created, oldest first, those after `afterId`. */
export async function findForgottenOrders(
  db: Database,
  olderThanMs: number,
  afterId: string | null,
  limit: number,
): Promise<string[]> {
  const rows = await db.query<{ shipment_id: string }>(
    'find-forgotten-orders',
    // A host's clock may be wrong in either direction.
    `select shipment_id from orders_to_create
      where (shipment_id < uuid_floor(now() - make_interval(secs => $1::float8 / 1000))
             or shipment_id > uuid_floor(now() + make_interval(secs => $1::float8 / 1000)))
        and shipment_id > coalesce($3::uuid, uuid_floor('epoch'))
      order by shipment_id limit $2`,
    [olderThanMs, limit, afterId],
  );
  return rows.map((row) => row.shipment_id);
}

const expiredAtOnce = 10_000;

/** Deletes the idempotency keys older than 24 hours, in bounded pieces. */
export async function dropExpiredKeys(db: Database): Promise<void> {
  let deleted: unknown[] = [];
  do deleted = await deleteExpired(db);
  while (deleted.length === expiredAtOnce);
}

const deleteExpired = (db: Database): Promise<unknown[]> =>
  db.query(
    'delete-expired-idempotency-keys',
    `delete from idempotency_keys where (shipper_id, key) in (
       select shipper_id, key from idempotency_keys
        where created_at < now() - interval '24 hours' order by created_at limit $1) returning 1`,
    [expiredAtOnce],
  );
