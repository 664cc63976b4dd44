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
