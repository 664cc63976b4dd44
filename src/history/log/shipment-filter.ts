import { isUuid } from '../../http/request/paging.js';
import { invalidRequest } from '../../platform/errors.js';
import { timeOfId } from '../../platform/ids.js';
import type { Database } from '../../platform/database/postgres.js';
import type { LogFilter, TimeRange } from './page-store.js';

/** A page reads the deliveries of at most this many shipments and of this many of their states. */
const maxShipments = 1_000;
const maxStates = 10_000;

/** Written so that the index on the identifier serves it. */
export const hasShipperTrackingId = (parameter: string) =>
  `left(shipper_tracking_id, 500) collate "C" = left(${parameter}, 500) and shipper_tracking_id = ${parameter}`;

/** The service's own id of the event; null if there is none. It may be another shipper's. */
export async function findFilteredEvent(db: Database, eventId: string): Promise<string | null> {
  const [named] = await db.query<{ eventId: string }>(
    'event-by-external-id',
    `select event_id as "eventId" from external_ids where external_id = $1`,
    [eventId],
  );
  const own = eventId.toLowerCase();
  return named?.eventId ?? (isUuid(own) ? own : null);
}

export const filtersByShipment = ({ trackingId, shipperTrackingId }: LogFilter): boolean =>
  trackingId !== undefined || shipperTrackingId !== undefined;

/** The time range is that of their events within the filter's; null without any. Throws INVALID_REQUEST if too many. */
export async function findFilteredShipments(
  db: Database,
  shipperId: string,
  { trackingId, shipperTrackingId, from, to }: LogFilter,
): Promise<(TimeRange & { shipmentIds: string[] }) | null> {
  const [name, named] =
    trackingId === undefined
      ? ['shipments-by-own-id', `${hasShipperTrackingId('$3')} and ($2::text is null or tracking_id = $2)`]
      : ['shipment-by-tracking-id', `tracking_id = $2 and ($3::text is null or shipper_tracking_id = $3)`];
  const [row] = await db.query<{
    shipmentIds: string[];
    states: number;
    first: string | null;
    last: string | null;
  }>(
    name,
    `with named as materialized (
       select shipment_id from shipments where shipper_id = $1 and ${named} limit $4
     )
     select (select coalesce(json_agg(shipment_id), '[]') from named) as "shipmentIds", coalesce(sum(sequence), 0)::float8 as states,
            (array_agg(first_event_id order by first_event_id))[1] as first,
            (array_agg(last_event_id order by last_event_id desc))[1] as last
       from named n
      cross join lateral (
        select sequence, first_event_id, last_event_id from shipment_progress where shipment_id = n.shipment_id limit 1) p`,
    [shipperId, trackingId ?? null, shipperTrackingId ?? null, maxShipments + 1],
  );
  const { shipmentIds, states, first, last } = row!;
  if (shipmentIds.length > maxShipments) throw tooManyShipments();
  if (states > maxStates) throw tooManyStates(trackingId === undefined ? 'shipperTrackingId' : 'trackingId');
  if (!first || !last) return null;
  return {
    shipmentIds,
    from: new Date(Math.max(from?.getTime() ?? 0, timeOfId(first))),
    before: new Date(Math.min(to?.getTime() ?? Infinity, timeOfId(last) + 1)),
  };
}

const tooManyStates = (path: string) =>
  invalidRequest([
    {
      path,
      message: `matches shipments with more than ${maxStates} states: filter by webhookId, state, from and to instead`,
    },
  ]);

const tooManyShipments = () =>
  invalidRequest([
    {
      path: 'shipperTrackingId',
      message: `matches more than ${maxShipments} shipments: filter by the trackingId of one instead`,
    },
  ]);
