import type { Database } from '../../platform/database/postgres.js';
import { origin, type Place } from './cursor.js';

export interface Selection {
  shipperId: string;
  trackingId: string | null;
  limit: number;
}

export interface FeedRow extends Place {
  externalId: string | null;
  sequence: number;
  recordedAt: Date;
  body: string;
}

export interface FeedRows {
  rows: FeedRow[];
  isEnd: boolean;
}

/** Total size of a page's notifications, which may have 256 KiB each; the first is always included. */
const maxBytes = 1 << 20;

/** With ids from `firstId` on, as `e`. Each form is written for its index. */
const ofAll = (shipperId: string, firstId: string) =>
  `events e where e.shipper_id = ${shipperId} and e.shipment_id is not null and e.event_id >= ${firstId}`;
const ofShipment = (shipperId: string, trackingId: string, firstId: string) => `(
  select * from events where event_id >= ${firstId} and shipment_id = (
    select shipment_id from shipments s where s.tracking_id = ${trackingId} and s.shipper_id = ${shipperId})
  offset 0) e where true`;

const pageText = (events: string) => `
  with page as materialized (
    select event_id, position, external_id, sequence, recorded_at, body
      from ${events} and (e.position, e.event_id) > ($3::bigint, $4::uuid) and e.position < $5::bigint
     order by e.position, e.event_id limit $7
  ), sized as (
    select *, count(*) over () as found,
           sum(octet_length(body)) over (order by page.position, event_id) - octet_length(body) as bytes_before
      from page
  )
  select event_id as "eventId", s.position, external_id as "externalId", sequence, recorded_at as "recordedAt", body,
         found::int
    from sized s where bytes_before < ${maxBytes} order by s.position, event_id`;

export async function readPage(
  tx: Database,
  { shipperId, trackingId, limit }: Selection,
  range: { after: Place; horizon: bigint; firstId: string },
): Promise<FeedRows> {
  const found = await tx.query<Omit<FeedRow, 'position'> & { position: string; found: number }>(
    trackingId === null ? 'read-feed' : 'read-feed-of-shipment',
    pageText(
      trackingId === null
        ? `${ofAll('$1', '$6::uuid')} and $2::text is null`
        : ofShipment('$1', '$2', '$6::uuid'),
    ),
    [shipperId, trackingId, range.after.position, range.after.eventId, range.horizon, range.firstId, limit],
  );
  const rows = found.map(({ position, ...row }) => ({ ...row, position: BigInt(position) }));
  return { rows, isEnd: rows.length < limit && rows.length === (found[0]?.found ?? 0) };
}

const placeOf = ([row]: { position: string; eventId: string }[]): Place =>
  row ? { position: BigInt(row.position), eventId: row.eventId } : origin;

/** Before the horizon, with an id from `firstId` on; the origin if there is none. */
export async function findLatest(
  tx: Database,
  shipperId: string,
  horizon: bigint,
  firstId: string,
): Promise<Place> {
  return placeOf(
    await tx.query(
      'find-latest-of-feed',
      `select e.position, e.event_id as "eventId" from events e
        where e.shipper_id = $1 and e.shipment_id is not null and e.position < $2::bigint and e.event_id >= $3::uuid
        order by e.position desc, e.event_id desc limit 1`,
      [shipperId, horizon, firstId],
    ),
  );
}

/**
 * With an id from `firstId` on and before `endId`; the origin if there is none. Written for the index by shipper: the
 * index of all ids would read the events of all shippers.
 */
export async function findBefore(
  tx: Database,
  shipperId: string,
  firstId: string,
  endId: string,
): Promise<Place> {
  return placeOf(
    await tx.query(
      'find-before-in-feed',
      `select e.position, e.event_id as "eventId" from events e
        where (e.shipper_id, e.event_id) >= ($1::uuid, $2::uuid) and (e.shipper_id, e.event_id) < ($1::uuid, $3::uuid)
          and e.event_id >= $2::uuid and e.event_id < $3::uuid -- prunes the other months
          and e.shipment_id is not null
        order by e.shipper_id desc, e.event_id desc limit 1`,
      [shipperId, firstId, endId],
    ),
  );
}

/** Returns the indices of waiting readers with a new event before the horizon, with an id from `firstId` on. */
export async function findNews(
  tx: Database,
  waiting: { selection: Selection; after: Place; firstId: string }[],
  horizon: bigint,
): Promise<number[]> {
  const first = (events: string) => `(
    select 1 from ${events} and e.event_id >= w.first_id
       and (e.position, e.event_id) > (w.position, w.event_id) and e.position < $6
     order by e.position, e.event_id limit 1) is not null`;
  const firstIds = waiting.map(({ firstId }) => firstId);
  const rows = await tx.query<{ index: number }>(
    'find-news-of-feed',
    `select w.index
       from unnest($1::int[], $2::uuid[], $3::text[], $4::bigint[], $5::uuid[], $8::uuid[])
         as w (index, shipper_id, tracking_id, position, event_id, first_id)
      where case when w.tracking_id is null
            then ${first(ofAll('w.shipper_id', '$7::uuid'))}
            else ${first(ofShipment('w.shipper_id', 'w.tracking_id', '$7::uuid'))} end`,
    [
      waiting.map((_, index) => index),
      waiting.map(({ selection }) => selection.shipperId),
      waiting.map(({ selection }) => selection.trackingId),
      waiting.map(({ after }) => after.position),
      waiting.map(({ after }) => after.eventId),
      horizon,
      [...firstIds].sort()[0] ?? origin.eventId,
      firstIds,
    ],
  );
  return rows.map(({ index }) => index);
}
