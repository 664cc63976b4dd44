import { eventsOf } from '../engine/engine.js';
import { isTrackingId } from '../http/request/fields.js';
import type { Database, Queries } from '../platform/database/postgres.js';
import { rowSet } from '../platform/database/parameters.js';
import type { TraceContext } from '../platform/telemetry/tracing.js';
import type { Order } from './order.js';
import type { DropoffLocation } from './responses.js';
import { hasShipperTrackingId } from '../history/log/store.js';

export interface AcceptedOrder {
  shipmentId: string;
  shipperId: string;
  processId: string;
  trackingId: string;
  order: Order;
  /** The order as JSON, as it is stored. */
  orderText: string;
  dropoffLocation: DropoffLocation;
  acceptedAt: Date;
  idempotency: { key: string; bodyHash: Buffer } | null;
  trace: TraceContext;
}

const orderRows = rowSet<AcceptedOrder>({
  shipment_id: ['uuid', ({ shipmentId }) => shipmentId],
  shipper_id: ['uuid', ({ shipperId }) => shipperId],
  process_id: ['uuid', ({ processId }) => processId],
  tracking_id: ['text', ({ trackingId }) => trackingId],
  shipper_tracking_id: ['text', ({ order }) => order.shipperTrackingId],
  order_data: ['text', ({ orderText }) => orderText],
  dropoff_location: ['text', ({ dropoffLocation }) => JSON.stringify(dropoffLocation)],
  accepted_at: ['timestamptz', ({ acceptedAt }) => acceptedAt],
  key: ['text', ({ idempotency }) => idempotency?.key ?? null],
  body_hash: ['bytea', ({ idempotency }) => idempotency?.bodyHash ?? null],
  trace: ['bytea', ({ trace }) => trace],
});

const insertOrdersText = `
  with waiting as materialized (
    select set_config('synchronous_commit', $1, true) as set -- for this transaction
  ), input as (
    select * from ${orderRows.as('t', 2)}
  ), claimed as (
    insert into idempotency_keys (shipper_id, key, body_hash, shipment_id, created_at)
    select shipper_id, key, body_hash, shipment_id, accepted_at from input where key is not null
     order by shipper_id, key -- one order of keys avoids deadlocks
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
  insert into orders_to_create (shipment_id, trace)
  select shipment_id, trace from stored join input using (shipment_id) cross join waiting returning shipment_id`;

/**
 * Leaves out orders whose idempotency key is taken, even within the batch. Returns the stored orders' shipmentIds.
 * Unless `isFlushed`, a crash of PostgreSQL may lose them until a later commit is on disk: see `flushOrders`.
 */
export async function insertOrders(
  db: Queries,
  orders: AcceptedOrder[],
  isFlushed = true,
): Promise<Set<string>> {
  const rows = await db.query<{ shipment_id: string }>('insert-orders', insertOrdersText, [
    isFlushed ? 'on' : 'off',
    ...orderRows.arrays(orders),
  ]);
  return new Set(rows.map((row) => row.shipment_id));
}

/** The transaction writes to the write-ahead log, so its commit waits until all that it sees is on disk. */
const flush = `flushed as materialized (select pg_logical_emit_message(true, 'parcelhook', '') as at)`;

/** Waits until these orders are on disk. Returns the shipmentIds of those that are stored. */
export async function flushOrders(db: Queries, shipmentIds: string[]): Promise<Set<string>> {
  const rows = await db.query<{ shipment_id: string }>(
    'flush-orders',
    `with ${flush} select shipment_id from flushed join shipments on shipment_id = any($1::uuid[])`,
    [shipmentIds],
  );
  return new Set(rows.map((row) => row.shipment_id));
}

export type EarlierOrder = Omit<AcceptedOrder, 'idempotency' | 'shipperId' | 'trace' | 'orderText'> & {
  bodyHash: Buffer;
};

export async function findByIdempotencyKey(
  db: Database,
  shipperId: string,
  key: string,
): Promise<EarlierOrder | null> {
  const rows = await db.query<
    Omit<EarlierOrder, 'order' | 'dropoffLocation'> & Record<'order' | 'dropoffLocation', string>
  >(
    'find-by-idempotency-key',
    `with ${flush}
     select k.body_hash as "bodyHash", s.shipment_id as "shipmentId", s.process_id as "processId",
            s.tracking_id as "trackingId", s.order_data as "order", s.dropoff_location as "dropoffLocation",
            s.accepted_at as "acceptedAt"
       from flushed cross join idempotency_keys k join shipments s using (shipment_id)
      where k.shipper_id = $1 and k.key = $2 and k.created_at > now() - interval '24 hours'`,
    [shipperId, key],
  );
  const [row] = rows;
  return row ? { ...row, ...parsed(row) } : null;
}

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

export type PlacedOrder = Pick<
  AcceptedOrder,
  'trackingId' | 'shipmentId' | 'order' | 'dropoffLocation' | 'acceptedAt'
> & { erasedAt: Date | null };

/** Reads the primary: a standby may still have what was erased. */
export async function findOrder(
  db: Database,
  shipperId: string,
  trackingId: string,
): Promise<PlacedOrder | null> {
  const [row] = await db.query<
    Omit<PlacedOrder, 'order' | 'dropoffLocation'> & Record<'order' | 'dropoffLocation', string>
  >(
    'find-order',
    `select tracking_id as "trackingId", shipment_id as "shipmentId", order_data as "order",
            dropoff_location as "dropoffLocation", accepted_at as "acceptedAt",
            (select erased_at from shipment_progress p where p.shipment_id = s.shipment_id) as "erasedAt"
       from shipments s where tracking_id = $2 and shipper_id = $1`,
    [shipperId, trackingId],
  );
  return row ? { ...row, ...parsed(row) } : null;
}

const parsed = ({ order, dropoffLocation }: Record<'order' | 'dropoffLocation', string>) => ({
  order: JSON.parse(order) as Order,
  dropoffLocation: JSON.parse(dropoffLocation) as DropoffLocation,
});

export interface TrackedShipment {
  trackingId: string;
  shipmentId: string;
  shipperTrackingId: string;
  state: string | null;
  /** The notifications of its latest events, as many as fit in a response, oldest first. */
  notifications: Record<string, unknown>[];
}

/** A shipment may have any number of states, each with any evidence; the feed has them all. */
const historyBounds = { states: 1_000, bytes: 1024 ** 2 };

/** The history comes as JSON: the driver would read an array of texts character by character. */
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
            (select coalesce(json_agg(body::json order by sequence), '[]') from (
               select sequence, body, sum(octet_length(body)) over (order by sequence desc) - octet_length(body) as newer_bytes
                 from ${eventsOf('s.shipment_id', 'sequence, body', 'true order by sequence desc limit $3')} newest) sized
              where newer_bytes < $4) as notifications
       from shipments s where s.tracking_id = $2 and s.shipper_id = $1`,
    [shipperId, trackingId, historyBounds.states, historyBounds.bytes],
  );
  return rows[0] ?? null;
}

/**
 * The shipments of orders that were accepted more than `olderThanMs` ago and not created, oldest first, after
 * `afterId`.
 */
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

const uncreatedCounted = 10_000;

export async function readUncreated(db: Database): Promise<{ count: number; oldestSeconds: number }> {
  const [row] = await db.query<{ count: number; oldestSeconds: number }>(
    'read-uncreated',
    `select (select count(*)::int from (select 1 from orders_to_create limit ${uncreatedCounted}) s) as count,
            greatest(0, coalesce(extract(epoch from now() - (
              select accepted_at from shipments
               where shipment_id = (select shipment_id from orders_to_create order by shipment_id limit 1))), 0))::float8
              as "oldestSeconds"`,
  );
  return row!;
}

const expiredAtOnce = 10_000;

export async function deleteExpiredIdempotencyKeys(db: Database): Promise<void> {
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

/** The shipment's id and its state, which is null before it is created. Null if the shipper has none of this trackingId. */
export async function findShipment(
  db: Database,
  shipperId: string,
  trackingId: string,
): Promise<{ shipmentId: string; state: string | null } | null> {
  if (!isTrackingId(trackingId)) return null;
  const rows = await db.query<{ shipmentId: string; state: string | null }>(
    'find-shipment-state',
    `select shipment_id as "shipmentId",
            (select state from shipment_progress p where p.shipment_id = s.shipment_id) as state
       from shipments s where tracking_id = $2 and shipper_id = $1`,
    [shipperId, trackingId],
  );
  return rows[0] ?? null;
}

export interface ShipmentFilter {
  shipperTrackingId?: string | undefined;
  /** Of at most 500 characters: the index has no more. */
  shipperTrackingIdPrefix?: string | undefined;
  state?: string | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
}

export interface ListedShipment {
  trackingId: string;
  shipmentId: string;
  shipperTrackingId: string;
  state: string | null;
  acceptedAt: Date;
  /** The time of the latest change; until the shipment is created, when its order was accepted. */
  updatedAt: Date;
}

export interface ShipmentPage {
  shipments: ListedShipment[];
  /** Where a short page ended because it had checked `maxChecked` shipments; null if none are left. */
  checkedUpTo: string | null;
}

/**
 * A page checks this many shipments where no index leads to those sought. No index has the state, because each event
 * would change it; and the index on the shipper's own identifiers does not lead to the newest of many that begin alike.
 */
const maxChecked = 5_000;

const endOfTime = new Date(253_402_300_799_999); // of the year 9999

/** Newest first. Ids are in the order of acceptance. */
export async function listShipments(
  db: Database,
  shipperId: string,
  filter: ShipmentFilter,
  beforeId: string | undefined,
  limit: number,
): Promise<ShipmentPage> {
  const { shipperTrackingId, shipperTrackingIdPrefix } = filter;
  if (shipperTrackingId?.startsWith(shipperTrackingIdPrefix ?? '') === false)
    return { shipments: [], checkedUpTo: null };
  const by = shipperTrackingId !== undefined ? '-by-own-id' : shipperTrackingIdPrefix ? '-by-prefix' : '';
  const isInState = filter.state !== undefined;
  const rows = await db.query<ListedShipment & { checkedUpTo: string | null }>(
    `list-shipments${by}${isInState ? '-in-state' : ''}`,
    pageText(by, isInState),
    [
      shipperId,
      filter.from ?? new Date(0),
      beforeId ?? null,
      filter.to ?? endOfTime,
      limit,
      shipperTrackingId ?? null,
      filter.state ?? null,
      maxChecked,
      shipperTrackingIdPrefix ?? null,
    ],
  );
  const checkedUpTo = rows[0]?.checkedUpTo ?? null;
  const shipments = rows.flatMap(({ checkedUpTo: _, ...row }) =>
    (row.shipmentId as string | null) ? [row] : [],
  );
  return { shipments, checkedUpTo };
}

type By = '' | '-by-own-id' | '-by-prefix';

const inRange = `shipper_id = $1 and shipment_id >= uuid_floor($2) and shipment_id < least($3::uuid, uuid_floor($4))`;
/** Written as in the index on the identifier. */
const ownIdInIndex = `left(shipper_tracking_id, 500) collate "C"`;
/** No text has the last character there is. */
const ownIdBegins = `${ownIdInIndex} >= $9 and ${ownIdInIndex} < $9 || chr(1114111)`;

/** Each of these shipments is elsewhere in the table, and takes a read of its own. */
const maxFew = 1_000;

/** The shipments whose identifier begins so if they are at most `maxFew`, else those among the newest `maxChecked`. */
const prefixText = `few as materialized (
      select shipment_id from shipments where shipper_id = $1 and ${ownIdBegins}
       order by ${ownIdInIndex} limit ${maxFew + 1} -- in this order, no plan reads all of many
    ), are_few as materialized (select count(*) <= ${maxFew} as yes from few),
    own as materialized (
      select shipment_id from few
       where (select yes from are_few) and shipment_id >= uuid_floor($2) and shipment_id < least($3::uuid, uuid_floor($4))
       union all
      select shipment_id from (
        select shipment_id, shipper_tracking_id from shipments where ${inRange} and not (select yes from are_few)
         order by shipment_id desc limit $8) newest
       where starts_with(shipper_tracking_id, $9)
    ),`;

/** The rows of the page, or one row without a shipment; each has `checkedUpTo`. */
function pageText(by: By, isInState: boolean): string {
  const newest = `select shipment_id from shipments
    where ${inRange} ${by === '-by-own-id' ? `and ${hasShipperTrackingId('$6')}` : ''} order by shipment_id desc`;
  const own = by === '-by-prefix' ? 'select shipment_id from own order by shipment_id desc' : newest;
  const progress = `select state, updated_at from shipment_progress where shipment_id = s.shipment_id`;
  const found = isInState
    ? `(${own} limit $8) s cross join lateral (${progress} and state = $7 limit 1) p`
    : `(${own} limit $5) s left join lateral (${progress} limit 1) p on true`;
  const isPartial = by === '-by-prefix' ? 'not (select yes from are_few)' : String(isInState);
  return `with given as (select $6::text, $7::text, $8::int, $9::text),
    ${by === '-by-prefix' ? prefixText : ''}
    found as materialized (
      select s.shipment_id, p.state, p.updated_at from ${found} limit $5
    ), checked as (
      select case when ${isPartial} and (select count(*) from found) < $5 then (${newest} offset $8 - 1 limit 1) end
        as "checkedUpTo"
    )
    select s.tracking_id as "trackingId", f.shipment_id as "shipmentId",
           s.shipper_tracking_id as "shipperTrackingId", f.state, s.accepted_at as "acceptedAt",
           coalesce(f.updated_at, s.accepted_at) as "updatedAt", "checkedUpTo"
      from checked left join found f on true
      left join lateral (
        select tracking_id, shipper_tracking_id, accepted_at from shipments where shipment_id = f.shipment_id limit 1) s
        on true
     order by f.shipment_id desc`;
}
