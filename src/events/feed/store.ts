import type { Database } from '../../platform/database/postgres.js';
import { origin, type Place } from './cursor.js';

/** Whose events, and of which shipment if not of all. */
export interface Selection {
  shipperId: string;
  trackingId: string | null;
  limit: number;
}

export interface FeedRow extends Place {
  externalId: string | null;
  sequence: number;
  recordedAt: Date;
  /** The notification. */
  body: string;
}

export interface FeedRows {
  rows: FeedRow[];
  /** Nothing that was decided is left. */
  isEnd: boolean;
}

/** Of the notifications in one page, but for the first: they may have 256 KiB each. */
const mostBytes = 1 << 20;

const ofAll = 'e.shipper_id = $1 and e.shipment_id is not null and $2::text is null';
const ofShipment = `e.shipment_id = (select shipment_id from shipments where tracking_id = $2 and shipper_id = $1)`;
const pageText = (whose: string) => `
  with page as materialized (
    select event_id, position, external_id, sequence, recorded_at, body from events e
     where ${whose} and (e.position, e.event_id) > ($3::bigint, $4::uuid) and e.position < $5::bigint
       and e.event_id >= $6::uuid
     order by e.position, e.event_id limit $7
  ), sized as (
    select *, count(*) over () as found,
           sum(octet_length(body)) over (order by page.position, event_id) - octet_length(body) as bytes_before
      from page
  )
  select event_id as "eventId", s.position, external_id as "externalId", sequence, recorded_at as "recordedAt", body,
         found::int
    from sized s where bytes_before < ${mostBytes} order by s.position, event_id`;

/** The events after a place and before the horizon, of ids from `firstId` on. */
export async function readPage(
  tx: Database,
  { shipperId, trackingId, limit }: Selection,
  range: { after: Place; horizon: bigint; firstId?: string },
): Promise<FeedRows> {
  const found = await tx.query<Omit<FeedRow, 'position'> & { position: string; found: number }>(
    trackingId === null ? 'read-feed' : 'read-feed-of-shipment',
    pageText(trackingId === null ? ofAll : ofShipment),
    [
      shipperId,
      trackingId,
      range.after.position,
      range.after.eventId,
      range.horizon,
      range.firstId ?? origin.eventId,
      limit,
    ],
  );
  const rows = found.map(({ position, ...row }) => ({ ...row, position: BigInt(position) }));
  return { rows, isEnd: rows.length < limit && rows.length === (found[0]?.found ?? 0) };
}

const placeOf = ([row]: { position: string; eventId: string }[]): Place =>
  row ? { position: BigInt(row.position), eventId: row.eventId } : origin;

/** The last event of the shipper that is decided, or the origin. */
export async function findLatest(tx: Database, shipperId: string, horizon: bigint): Promise<Place> {
  return placeOf(
    await tx.query(
      'find-latest-of-feed',
      `select e.position, e.event_id as "eventId" from events e
        where e.shipper_id = $1 and e.shipment_id is not null and e.position < $2::bigint
        order by e.position desc, e.event_id desc limit 1`,
      [shipperId, horizon],
    ),
  );
}

/**
 * The last event of the shipper with an id before this one, or the origin. Written so that the index of the shipper's
 * events serves it: that of all ids would lead over everybody's.
 */
export async function findBefore(tx: Database, shipperId: string, firstId: string): Promise<Place> {
  return placeOf(
    await tx.query(
      'find-before-in-feed',
      `select e.position, e.event_id as "eventId" from events e
        where (e.shipper_id, e.event_id) > ($1::uuid, $3::uuid) and (e.shipper_id, e.event_id) < ($1::uuid, $2::uuid)
          and e.shipment_id is not null
        order by e.shipper_id desc, e.event_id desc limit 1`,
      [shipperId, firstId, origin.eventId],
    ),
  );
}

/** Of those who wait after a place, who has an event before the horizon: their indices. */
export async function findNews(
  tx: Database,
  waiting: { selection: Selection; after: Place }[],
  horizon: bigint,
): Promise<number[]> {
  const first = (whose: string) => `(
    select 1 from events e where ${whose} and (e.position, e.event_id) > (w.position, w.event_id) and e.position < $6
     order by e.position, e.event_id limit 1) is not null`;
  const rows = await tx.query<{ index: number }>(
    'find-news-of-feed',
    `select w.index
       from unnest($1::int[], $2::uuid[], $3::text[], $4::bigint[], $5::uuid[])
         as w (index, shipper_id, tracking_id, position, event_id)
      where case when w.tracking_id is null
            then ${first('e.shipper_id = w.shipper_id and e.shipment_id is not null')}
            else ${first(`e.shipment_id = (select shipment_id from shipments s
                                            where s.tracking_id = w.tracking_id and s.shipper_id = w.shipper_id)`)} end`,
    [
      waiting.map((_, index) => index),
      waiting.map(({ selection }) => selection.shipperId),
      waiting.map(({ selection }) => selection.trackingId),
      waiting.map(({ after }) => after.position),
      waiting.map(({ after }) => after.eventId),
      horizon,
    ],
  );
  return rows.map(({ index }) => index);
}
