import { eventsOf } from '../engine/engine.js';
import type { Database } from '../platform/database/postgres.js';
import { lowestId } from '../platform/ids.js';

/** A reader's position: after the event with this position and id. */
export interface Place {
  position: bigint;
  eventId: string;
}

export interface Cursor extends Place {
  /** The epoch is renewed when the database is restored from a dump or replaced by a standby. */
  epoch: string;
  /** The reader has all events up to this time (epoch). */
  timeMs: number;
}

export const origin: Place = { position: 0n, eventId: lowestId };

/** 46 bytes in base64url: epoch, position, event id, time. */
export const cursorForm = /^[A-Za-z0-9_-]{61}[AQgw]$/;

const idBytes = (id: string): Buffer => Buffer.from(id.replaceAll('-', ''), 'hex');
const idOf = (bytes: Buffer): string =>
  bytes.toString('hex').replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, '$1-$2-$3-$4-$5');

export function encodeCursor({ epoch, position, eventId, timeMs }: Cursor): string {
  const bytes = Buffer.alloc(46);
  idBytes(epoch).copy(bytes, 0);
  bytes.writeBigInt64BE(position, 16);
  idBytes(eventId).copy(bytes, 24);
  bytes.writeUIntBE(timeMs, 40, 6);
  return bytes.toString('base64url');
}

export function decodeCursor(text: string): Cursor {
  const bytes = Buffer.from(text, 'base64url');
  return {
    epoch: idOf(bytes.subarray(0, 16)),
    position: bytes.readBigInt64BE(16),
    eventId: idOf(bytes.subarray(24, 40)),
    timeMs: bytes.readUIntBE(40, 6),
  };
}

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

const columns = 'event_id, position, external_id, sequence, recorded_at, body';

/** The shipper's events with ids from `firstId` on, as `e`. Written for the index by position. */
const ofAll = (shipperId: string, firstId: string) =>
  `events e where e.shipper_id = ${shipperId} and e.shipment_id is not null and e.event_id >= ${firstId}`;

/**
 * A shipment's events are in the order of the feed by their sequence, too. So a search finds how many of them meet
 * `isBefore`, which those up to one of them meet and the later ones do not: it looks at the latest, then halves. None
 * is needed if that one is the event `eventId`. For `with recursive`: `place` has the shipment, the number and its
 * latest sequence, or no row. Every event is read by its sequence, so that the planner has no choice.
 */
const placeOfShipment = (shipperId: string, trackingId: string, isBefore: string, eventId: string) => `
  search as (
    select p.shipment_id, p.sequence as latest, coalesce(c.sequence, 0) as before,
           coalesce(c.sequence, p.sequence) + 1 as behind
      from (select shipment_id from shipments where tracking_id = ${trackingId} and shipper_id = ${shipperId}) s
     cross join lateral (
       select shipment_id, sequence from shipment_progress where shipment_id = s.shipment_id limit 1) p
      left join (select shipment_id, sequence from events where event_id = ${eventId} limit 1) c
        on c.shipment_id = p.shipment_id
    union all
    select s.shipment_id, s.latest, case when e.is_before then s.middle else s.before end,
           case when e.is_before then s.behind else s.middle end
      from (select *, case when behind > latest then latest else (before + behind) / 2 end as middle
              from search where behind - before > 1) s
     cross join lateral ${eventsOf('s.shipment_id', `${isBefore} as is_before`, 'sequence = s.middle limit 1')} e
  ), place as materialized (
    select shipment_id, latest, before from search where behind - before = 1
  )`;

const pageOfAll = `with page as materialized (
    select ${columns} from ${ofAll('$1', '$6::uuid')} and $2::text is null
       and (e.position, e.event_id) > ($3::bigint, $4::uuid) and e.position < $5::bigint
     order by e.position, e.event_id limit $7
  )`;
const pageOfShipment = `with recursive
  ${placeOfShipment('$1', '$2', '(position, event_id) <= ($3::bigint, $4::uuid)', '$4::uuid')},
  page as materialized (
    select e.* from place
     cross join lateral ${eventsOf(
       'place.shipment_id',
       columns,
       'sequence > place.before and sequence <= place.before + $7::int and position < $5::bigint',
     )} e
  )`;

const pageText = (page: string, order: string) => `
  ${page}, sized as (
    select *, count(*) over () as found,
           sum(octet_length(body)) over (order by ${order}) - octet_length(body) as bytes_before
      from page
  )
  select event_id as "eventId", s.position, external_id as "externalId", sequence, recorded_at as "recordedAt", body,
         found::int
    from sized s where bytes_before < ${maxBytes} and event_id >= $6::uuid order by ${order}`;

const readAllText = pageText(pageOfAll, 'position, event_id');
const readShipmentText = pageText(pageOfShipment, 'sequence');

export async function readPage(
  tx: Database,
  { shipperId, trackingId, limit }: Selection,
  range: { after: Place; horizon: bigint; firstId: string },
): Promise<FeedRows> {
  const found = await tx.query<Omit<FeedRow, 'position'> & { position: string; found: number }>(
    trackingId === null ? 'read-feed' : 'read-feed-of-shipment',
    trackingId === null ? readAllText : readShipmentText,
    [shipperId, trackingId, range.after.position, range.after.eventId, range.horizon, range.firstId, limit],
  );
  const rows = found.map(({ position, ...row }) => ({ ...row, position: BigInt(position) }));
  return { rows, isEnd: rows.length < limit && rows.length === (found[0]?.found ?? 0) };
}

const placeOf = ([row]: { position: string; eventId: string }[]): Place =>
  row ? { position: BigInt(row.position), eventId: row.eventId } : origin;

/** Finds the latest event before the horizon with an id from `firstId` on; the origin if there is none. */
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
 * Finds the last event with an id from `firstId` on and before `endId`; the origin if there is none. Written for the
 * index by shipper: the index of all ids would read the events of all shippers.
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

const eventsPerStep = 1_000;

/**
 * Finds the position before the first of the shipment's events with an id from `firstId` on; the origin if there is
 * none before. Only the events with an id before `endId` are in the order of their ids, and passed over without being
 * read.
 */
export async function findBeforeOfShipment(
  tx: Database,
  { shipperId, trackingId }: Selection,
  endId: string,
  firstId: string,
): Promise<Place> {
  return placeOf(
    await tx.query(
      'find-before-in-feed-of-shipment',
      `with recursive ${placeOfShipment('$1', '$2', 'event_id < $3::uuid', '$3::uuid')},
       walk as (
         select shipment_id, latest, before as passed, null::int as found from place
         union all
         select w.shipment_id, w.latest, w.passed + ${eventsPerStep}, n.found
           from (select * from walk where found is null and passed < latest) w
          cross join lateral (
            select min(sequence) as found from ${eventsOf(
              'w.shipment_id',
              'sequence',
              `sequence > w.passed and sequence <= w.passed + ${eventsPerStep} and event_id >= $4::uuid`,
            )} e) n
       ), first as materialized (select shipment_id, found from walk where found is not null)
       select e.position, e.event_id as "eventId" from first
        cross join lateral ${eventsOf('first.shipment_id', 'position, event_id', 'sequence = first.found - 1 limit 1')} e`,
      [shipperId, trackingId, endId, firstId],
    ),
  );
}

/** Returns the indices of waiting readers with a new event before the horizon, with an id from `firstId` on. */
export async function findNews(
  tx: Database,
  waiting: { selection: Selection; after: Place; firstId: string }[],
  horizon: bigint,
): Promise<number[]> {
  const ofAllIsNew = `(
    select 1 from ${ofAll('w.shipper_id', '$7::uuid')} and e.event_id >= w.first_id
       and (e.position, e.event_id) > (w.position, w.event_id) and e.position < $6
     order by e.position, e.event_id limit 1) is not null`;
  // The latest before the horizon is enough.
  const ofShipmentIsNew = `(
    with recursive ${placeOfShipment('w.shipper_id', 'w.tracking_id', 'position < $6', 'null::uuid')}
    select e.event_id >= w.first_id and (e.position, e.event_id) > (w.position, w.event_id)
      from place cross join lateral ${eventsOf('place.shipment_id', 'event_id, position', 'sequence = place.before limit 1')} e
    ) is true`;
  const firstIds = waiting.map(({ firstId }) => firstId);
  const rows = await tx.query<{ index: number }>(
    'find-news-of-feed',
    `select w.index
       from unnest($1::int[], $2::uuid[], $3::text[], $4::bigint[], $5::uuid[], $8::uuid[])
         as w (index, shipper_id, tracking_id, position, event_id, first_id)
      where case when w.tracking_id is null
            then ${ofAllIsNew} else ${ofShipmentIsNew} end`,
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
