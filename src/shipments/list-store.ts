import { hasShipperTrackingId } from '../history/log/store.js';
import type { Database } from '../platform/database/postgres.js';

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
