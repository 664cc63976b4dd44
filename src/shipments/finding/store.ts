import { bears } from '../../deliveries/log/shipments.js';
import type { Database } from '../../platform/database/postgres.js';

export interface ShipmentFilter {
  /** The shipper's own identifier, which many may bear. */
  shipperTrackingId?: string | undefined;
  state?: string | undefined;
  /** When it was accepted: then or later, and before `to`. */
  from?: Date | undefined;
  to?: Date | undefined;
}

/** A shipment as a list shows it: nothing of its recipient. */
export interface ListedShipment {
  trackingId: string;
  shipmentId: string;
  shipperTrackingId: string;
  /** Null until it is created. */
  state: string | null;
  acceptedAt: Date;
  /** When it came to its state; until it is created, when it was accepted. */
  updatedAt: Date;
}

export interface ShipmentPage {
  shipments: ListedShipment[];
  /** Where a page that is not full ended because enough were looked at; null where no more are left. */
  lookedTo: string | null;
}

/** A state is in no index, for each event would change it there: a page looks at so many shipments for those that are in it. */
const maxLookedAt = 5_000;

const endOfTime = new Date(253_402_300_799_999); // of the year 9999

/** A shipper's shipments, the newest first, up to `limit`: their ids are ordered by when they were accepted. */
export async function listShipments(
  db: Database,
  shipperId: string,
  filter: ShipmentFilter,
  beforeId: string | undefined,
  limit: number,
): Promise<ShipmentPage> {
  const isBearing = filter.shipperTrackingId !== undefined;
  const isInState = filter.state !== undefined;
  const rows = await db.query<ListedShipment & { lookedTo: string | null }>(
    `list-shipments${isBearing ? '-bearing' : ''}${isInState ? '-in-state' : ''}`,
    pageText(isBearing, isInState),
    [
      shipperId,
      filter.from ?? new Date(0),
      beforeId ?? null,
      filter.to ?? endOfTime,
      limit,
      filter.shipperTrackingId ?? null,
      filter.state ?? null,
      maxLookedAt,
    ],
  );
  const lookedTo = rows[0]?.lookedTo ?? null;
  const shipments = rows.flatMap(({ lookedTo: _, ...row }) =>
    (row.shipmentId as string | null) ? [row] : [],
  );
  return { shipments, lookedTo };
}

/** Rows of the page, or one without a shipment; each says where it was not looked any further. */
function pageText(isBearing: boolean, isInState: boolean): string {
  const own = `select shipment_id from shipments
    where shipper_id = $1 and shipment_id >= uuid_floor($2) and shipment_id < least($3::uuid, uuid_floor($4))
      ${isBearing ? `and ${bears('$6')}` : ''}
    order by shipment_id desc`;
  const progress = `select state, updated_at from shipment_progress where shipment_id = s.shipment_id`;
  const found = isInState
    ? `(${own} limit $8) s cross join lateral (${progress} and state = $7 limit 1) p`
    : `(${own} limit $5) s left join lateral (${progress} limit 1) p on true`;
  const lookedTo = isInState
    ? `case when (select count(*) from found) < $5 then (${own} offset $8 - 1 limit 1) end`
    : 'null::uuid';
  return `with given as (select $6::text, $7::text, $8::int),
    found as materialized (
      select s.shipment_id, p.state, p.updated_at from ${found} limit $5
    ), looked as (select ${lookedTo} as "lookedTo")
    select s.tracking_id as "trackingId", f.shipment_id as "shipmentId",
           s.shipper_tracking_id as "shipperTrackingId", f.state, s.accepted_at as "acceptedAt",
           coalesce(f.updated_at, s.accepted_at) as "updatedAt", "lookedTo"
      from looked left join found f on true
      left join lateral (
        select tracking_id, shipper_tracking_id, accepted_at from shipments where shipment_id = f.shipment_id limit 1) s
        on true
     order by f.shipment_id desc`;
}
