import { eventsOf, ms } from '../outbox/sql.js';
import type { Database } from '../../platform/database/postgres.js';
import type { TraceContext } from '../../platform/telemetry/tracing.js';

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

export interface StateEvent {
  state: string;
  /** A repeated id changes nothing. */
  externalId?: string | undefined;
  timestampMs?: number | undefined;
  lat?: number | null | undefined;
  lng?: number | null | undefined;
  anomalies?: unknown;
  evidences?: unknown[] | undefined;
}

/** The specification's notification ("Events"), rendered once: every attempt sends these bytes. */
export const renderNotification = (
  shipment: { trackingId: string; shipperTrackingId: string },
  event: StateEvent,
  timestampMs: number,
): string =>
  JSON.stringify({
    state: event.state,
    label_id: shipment.shipperTrackingId,
    anomalies: event.anomalies ?? null,
    evidences: event.evidences ?? [],
    tracking_id: shipment.trackingId,
    shipper_tracking_id: shipment.shipperTrackingId,
    timestamp: timestampMs,
    lat: event.lat ?? null,
    lng: event.lng ?? null,
  });

const nothingPersonal = { anomalies: null, evidences: [], lat: null, lng: null };

/** Only the state and time of an erased shipment's event may be reported. */
export const withoutPersonalData = (event: StateEvent): StateEvent => ({ ...event, ...nothingPersonal });

export const eraseNotification = (body: string): string =>
  JSON.stringify({ ...(JSON.parse(body) as object), ...nothingPersonal });

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
