import { maxClaimedBodyBytes, type DueClaim, type Room } from '../outbox/types.js';
import { eventsOf, ms } from '../outbox/sql.js';
import { claimWithinRoom, fanOut, selectOwed, type OwedRow } from '../outbox/insert.js';
import type { Database, Queries } from '../../platform/database/postgres.js';
import { rowSet } from '../../platform/database/parameters.js';
import type { TraceContext } from '../../platform/telemetry/tracing.js';
import { eraseNotification } from './notification.js';

export interface ShipmentHead {
  shipmentId: string;
  shipperId: string;
  trackingId: string;
  shipperTrackingId: string;
  acceptedAt: Date;
  state: string | null;
  /** Equals the number of events recorded so far. */
  sequence: number;
  erased: boolean;
  /** The span that accepted its order; null once it is created. */
  trace: TraceContext | null;
}

export interface EventRow {
  eventId: string;
  externalId: string | null;
  shipperId: string;
  shipmentId: string;
  sequence: number;
  state: string;
  recordedAt: Date;
  body: string;
  erased: boolean;
  /** The span that records it. */
  trace: TraceContext;
}

/** A process whose clock differs more from PostgreSQL's records nothing: queries by time would miss its events. */
export const clockLeewayMs = 86_400_000;

/** A change of a shipment's state; refused if another writer was faster, or the shipment was erased since. */
export interface Move {
  shipmentId: string;
  shipperId: string;
  fromSequence: number;
  toSequence: number;
  state: string;
  erased: boolean;
  firstEventId: string;
  lastEventId: string;
}

export interface Owed extends OwedRow {
  deliveryId: string;
  event: EventRow;
}

/** Of a row that is inserted as claimed. */
export const claimOf = (owed: Owed): DueClaim => ({
  body: isLarge(owed.event) ? '' : owed.event.body,
  large: isLarge(owed.event) ? { eventId: owed.event.eventId, bytes: owed.event.body.length } : null,
  dueAt: owed.dueAt,
  sendableForMs: 0,
  shipperId: owed.event.shipperId,
  deliveryId: owed.deliveryId,
  webhookId: owed.webhookId,
  eventId: owed.event.externalId ?? owed.event.eventId,
  recordedAt: owed.event.recordedAt,
  shipmentId: owed.event.shipmentId,
  sequence: owed.event.sequence,
  number: 1,
  trigger: 'SCHEDULED',
  failureCount: 0,
  revision: owed.revision,
  ordered: owed.ordered,
  supersedes: owed.supersedes,
  troubled: owed.troubled,
  isProbe: false,
  erased: owed.event.erased,
  trace: owed.event.trace,
});

const isLarge = ({ body }: EventRow): boolean => body.length > maxClaimedBodyBytes;

export function loadShipments(
  db: Database,
  shipmentIds: string[],
  trackingIds: string[],
): Promise<ShipmentHead[]> {
  return db.query<ShipmentHead>(
    'load-shipments',
    `with found as materialized (
       select shipment_id, shipper_id, tracking_id, shipper_tracking_id, accepted_at from shipments
        where shipment_id = any($1::uuid[])
       union
       select shipment_id, shipper_id, tracking_id, shipper_tracking_id, accepted_at from shipments
        where tracking_id = any($2)
     )
     select s.shipment_id as "shipmentId", s.shipper_id as "shipperId", s.tracking_id as "trackingId",
            s.shipper_tracking_id as "shipperTrackingId", s.accepted_at as "acceptedAt", p.state, coalesce(p.sequence, 0) as sequence,
            p.erased_at is not null as erased, c.trace
       from found s
       left join lateral (
         select state, sequence, erased_at from shipment_progress where shipment_id = s.shipment_id limit 1) p on true
       left join lateral (
         select trace from orders_to_create where shipment_id = s.shipment_id and p.state is null limit 1) c on true`,
    [shipmentIds, trackingIds],
  );
}

export async function findEventsByExternalId(
  db: Database,
  externalIds: string[],
): Promise<Map<string, { shipmentId: string; state: string }>> {
  if (externalIds.length === 0) return new Map();
  const rows = await db.query<{ externalId: string; shipmentId: string; state: string }>(
    'find-events-by-external-id',
    `select external_id as "externalId", shipment_id as "shipmentId", state from external_ids where external_id = any($1)`,
    [externalIds],
  );
  return new Map(rows.map((row) => [row.externalId, row]));
}

/**
 * One statement, one commit. This process claims as many deliveries as it has room for, shared fairly between webhooks;
 * the rest is READY or waits its turn. Events of shipments that another writer advanced meanwhile are left out. Throws
 * a unique violation if another writer created one of the shipments or used a caller's event id meanwhile, and a
 * not-null violation (of `position`) if this process's clock is too far from PostgreSQL's.
 */
export async function insertEvents(
  db: Queries,
  moves: Move[],
  events: EventRow[],
  room: Room,
  options: { leaseMs: number; orderHoldMs: number },
): Promise<{ recorded: Set<string>; owed: Owed[] }> {
  const rows = await db.query<OwedRow>('insert-events', insertEventsText, [
    JSON.stringify(room.byWebhook),
    room.ofOthers,
    room.total,
    options.leaseMs,
    options.orderHoldMs,
    events[0]?.recordedAt,
    ...moveRows.arrays(moves),
    ...eventRows.arrays(events),
  ]);
  const byId = new Map(events.map((event) => [event.eventId, event]));
  const recorded = new Set<string>();
  const owed: Owed[] = [];
  for (const row of rows) {
    if (row.deliveryId === null) recorded.add(row.eventId);
    else owed.push(Object.assign(row as OwedRow & { deliveryId: string }, { event: byId.get(row.eventId)! }));
  }
  return { recorded, owed };
}

const moveRows = rowSet<Move>({
  shipment_id: ['uuid', ({ shipmentId }) => shipmentId],
  shipper_id: ['uuid', ({ shipperId }) => shipperId],
  from_sequence: ['int', ({ fromSequence }) => fromSequence],
  to_sequence: ['int', ({ toSequence }) => toSequence],
  state: ['text', ({ state }) => state],
  erased: ['bool', ({ erased }) => erased],
  first_event_id: ['uuid', ({ firstEventId }) => firstEventId],
  last_event_id: ['uuid', ({ lastEventId }) => lastEventId],
});
const eventRows = rowSet<EventRow>({
  event_id: ['uuid', ({ eventId }) => eventId],
  external_id: ['text', ({ externalId }) => externalId],
  shipper_id: ['uuid', ({ shipperId }) => shipperId],
  shipment_id: ['uuid', ({ shipmentId }) => shipmentId],
  sequence: ['int', ({ sequence }) => sequence],
  state: ['text', ({ state }) => state],
  recorded_at: ['timestamptz', ({ recordedAt }) => recordedAt],
  body: ['text', ({ body }) => body],
  erasure: ['text', ({ erased }) => (erased ? 'AFTER' : null)],
  trace: ['bytea', ({ trace }) => trace],
});
const firstMove = 7; // the parameters before it are values

const moveShipments = `
  m as materialized (
    select * from ${moveRows.as('m', firstMove)} order by shipment_id
  ), created as (
    insert into shipment_progress (shipment_id, shipper_id, state, sequence, updated_at, first_event_id, last_event_id)
    select shipment_id, shipper_id, state, to_sequence, now(), first_event_id, last_event_id from m
     where from_sequence = 0 and exists (select from shipments where shipment_id = m.shipment_id) -- see recordCreations
    returning shipment_id
  ), done as (
    delete from orders_to_create where shipment_id = any(array(select shipment_id from created))
  ), advanced as (
    update shipment_progress p
       set state = m.state, sequence = m.to_sequence, updated_at = now(),
           first_event_id = least(p.first_event_id, m.first_event_id),
           last_event_id = greatest(p.last_event_id, m.last_event_id)
      from m
     where m.from_sequence > 0 and p.shipment_id = any(array[m.shipment_id]) and p.sequence = m.from_sequence
       and (p.erased_at is not null) = m.erased
    returning p.shipment_id
  ), moved as materialized (
    select shipment_id from created union all select shipment_id from advanced
  )`;

/**
 * Rows are written in one order, which avoids deadlocks: shipments by id, then the callers' event ids, sorted. The feed
 * relies on this being a single statement in a transaction of its own: so it locks `events` before it gets the
 * transaction id that makes the position, and a shipment's next event has a later position.
 */
const insertEventsText = `
  with ${moveShipments},
  recorded as (
    insert into events (event_id, external_id, shipper_id, shipment_id, sequence, state, recorded_at, body, erasure,
                        trace, position)
    select e.*, (select case when abs(extract(epoch from $6::timestamptz - now())) * 1000 < ${clockLeewayMs}
                             then first_position + pg_current_xact_id()::text::bigint end from feed)
      from ${eventRows.as('e', firstMove + moveRows.count)}
     where coalesce(e.shipment_id in (select shipment_id from moved), false)
     order by e.event_id
    returning event_id, external_id, shipper_id, shipment_id, sequence, state
  ), named as (
    insert into external_ids (external_id, event_id, shipment_id, state)
    select external_id, event_id, shipment_id, state from recorded where external_id is not null order by external_id
  ),
  ${fanOut({ byWebhook: '$1', ofOthers: '$2', holdMs: '$5' })},
  ${claimWithinRoom({ total: '$3', leaseMs: '$4' })}
  ${selectOwed}`;

const externalIdsPerPiece = 10_000;

/** Deletes callers' ids that are older than the log, in bounded pieces. */
export async function deleteOldExternalIds(db: Database, retentionMs: number): Promise<void> {
  let deleted: unknown[];
  do deleted = await deletePieceOfExternalIds(db, retentionMs);
  while (deleted.length === externalIdsPerPiece);
}

const deletePieceOfExternalIds = (db: Database, retentionMs: number): Promise<unknown[]> =>
  db.query(
    'delete-old-external-ids',
    `delete from external_ids where external_id = any(array(
       select external_id from external_ids
        where event_id < uuid_floor(now() - ${ms('$1')}) order by event_id limit $2)) returning 1`,
    [retentionMs, externalIdsPerPiece],
  );

export interface MarkedShipment {
  shipmentId: string;
  shipperId: string;
  erasedAt: Date;
  isFirst: boolean;
}

/**
 * `quietMs` leaves out shipments with a new state within that time. The rows are locked, so a concurrent recording is
 * either visible to the following statements or sees the mark.
 */
export function markErased(
  tx: Database,
  shipmentIds: string[],
  quietMs: number | null,
): Promise<MarkedShipment[]> {
  return tx.query<MarkedShipment>(
    'mark-erased',
    `with locked as materialized (
       select shipment_id from shipment_progress
        where shipment_id = any($1::uuid[]) and ($2::float8 is null or updated_at < now() - ${ms('$2')})
        order by shipment_id for update
     )
     update shipment_progress p set erased_at = coalesce(erased_at, now())
       from locked l where p.shipment_id = any(array[l.shipment_id])
     returning p.shipment_id as "shipmentId", p.shipper_id as "shipperId", p.erased_at as "erasedAt",
               p.erased_at = now() as "isFirst"`,
    [shipmentIds, quietMs],
  );
}

const eventsPerPiece = { count: 1_000, bytes: 4 * 1024 ** 2 };

/**
 * Returns how many events it has erased; none is left if that is 0. Notifications recorded after the mark hold no
 * personal data.
 */
export async function eraseSomeEvents(tx: Database, shipmentIds: string[]): Promise<number> {
  const events = await tx.query<{ eventId: string; body: string }>(
    'find-events-to-erase',
    `select event_id as "eventId", body from (
       select event_id, body, sum(octet_length(body)) over (rows unbounded preceding) - octet_length(body) as bytes_before
         from (
           select e.event_id, e.body from unnest($1::uuid[]) as s (shipment_id)
            cross join lateral ${eventsOf('s.shipment_id', 'event_id, body', 'erasure is null order by sequence limit $2')} e
            limit $2) found) sized
      where bytes_before < $3`,
    [shipmentIds, eventsPerPiece.count, eventsPerPiece.bytes],
  );
  if (events.length === 0) return 0;
  await tx.query(
    'erase-events',
    `update events e set body = i.body, erasure = 'DONE'
       from unnest($1::uuid[], $2::text[]) as i (event_id, body) where e.event_id = any(array[i.event_id])`,
    [events.map(({ eventId }) => eventId), events.map(({ body }) => eraseNotification(body))],
  );
  return events.length;
}
