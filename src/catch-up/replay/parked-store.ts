import { firstIdOf, timeOfId, lowestId } from '../../platform/ids.js';
import type { Database } from '../../platform/database/postgres.js';
import { deliveryOf, parkedFrom } from './piece-store.js';
import {
  eventsOf,
  insertIntoLog,
  isCallable,
  isInterested,
  maxLaterStates,
  ms,
  noOutcome,
} from '../../engine/engine.js';

/**
 * Checks the next `limit` webhooks that are not called. A transaction that sees the parking has a later id than this
 * statement. So every event without a row comes after the position stored here, whatever the clocks say.
 */
export async function parkPage(
  db: Database,
  after: string | null,
  { limit, parkedAfter }: { limit: number; parkedAfter: number },
): Promise<{ next: string | null; parked: string[] }> {
  const [row] = await db.query<{ last: string | null; looked: number; parked: string[] }>(
    'park-webhooks',
    `with uncalled as materialized (
       (select webhook_id from webhooks
         where deleted_at is null and (status <> 'ACTIVE' or suspended) and webhook_id > $1
         order by webhook_id limit $2)
       union
       (select webhook_id from circuits where open_until is not null and webhook_id > $1 order by webhook_id limit $2)
     ), page as materialized (
       select webhook_id from uncalled order by webhook_id limit $2
     ), parked as (
       insert into replays (replay_id, webhook_id, shipper_id, kind, last_position, last_event_id, end_event_id)
       select gen_random_uuid(), w.webhook_id, w.shipper_id, 'PARKED', feed_position(), uuid_floor(now()),
              'ffffffff-ffff-ffff-ffff-ffffffffffff'
         from page p
        cross join lateral (
          select webhook_id, shipper_id from webhooks
           where webhook_id = p.webhook_id and deleted_at is null and not ${isCallable('webhooks')}
             and ${parkedFrom('webhooks')} is null
           limit 1) w
        cross join lateral (select 1 from outbox where webhook_id = w.webhook_id offset $3 limit 1) full_enough
       on conflict do nothing
       returning webhook_id
     )
     select (select webhook_id from page order by webhook_id desc limit 1) as last,
            (select count(*)::int from page) as looked, array(select webhook_id from parked) as parked`,
    [after ?? lowestId, limit, parkedAfter - 1],
  );
  const { last, looked, parked } = row!;
  return { next: looked === limit ? last : null, parked };
}

export async function isOwedEnough(
  db: Database,
  webhookId: string,
  limits: { due: number; owed: number },
): Promise<boolean> {
  const [row] = await db.query<{ enough: boolean }>(
    'is-owed-enough',
    `select exists (select 1 from outbox where webhook_id = $1 and due_at <= now() order by due_at offset $2 - 1 limit 1)
         or exists (select 1 from outbox where webhook_id = $1 offset $3 - 1 limit 1) as enough`,
    [webhookId, limits.due, limits.owed],
  );
  return row!.enough;
}

/** All events up to this one, in the order of the feed, have been handled. */
export interface ParkedPlace {
  position: string;
  eventId: string;
}

const leewayMs = 3 * 86_400_000;
/** Bounds the months that are read. Clocks are off by less than a day. */
const firstIdAfter = ({ eventId }: ParkedPlace) => firstIdOf(timeOfId(eventId) - leewayMs);

/** The events of shipper $1 after the place ($2, $3) of the feed. */
const behind = (firstId: string, before = 'true') => `from events
  where shipper_id = $1 and shipment_id is not null and (position, event_id) > ($2::bigint, $3::uuid)
    and event_id >= ${firstId}::uuid and ${before}`;

export async function countBehind(
  db: Database,
  shipperId: string,
  place: ParkedPlace,
  limit: number,
): Promise<number> {
  const [row] = await db.query<{ count: number }>(
    'count-parked',
    `select count(*)::int as count from (select 1 ${behind('$5')} order by position, event_id limit $4) e`,
    [shipperId, place.position, place.eventId, limit, firstIdAfter(place)],
  );
  return row!.count;
}

export async function nextBehind(
  db: Database,
  shipperId: string,
  place: ParkedPlace,
  horizon: bigint,
): Promise<ParkedPlace | null> {
  const rows = await db.query<ParkedPlace>(
    'next-parked',
    `select position, event_id as "eventId" ${behind('$5', 'position < $4::bigint')}
      order by position, event_id limit 1`,
    [shipperId, place.position, place.eventId, horizon, firstIdAfter(place)],
  );
  return rows[0] ?? null;
}

export interface ParkedPiece {
  /** Null if no event was left. */
  reached: ParkedPlace | null;
  isEnd: boolean;
  /** How many events were older than the log's retention. */
  expired: number;
  shipmentIds: string[];
}

/**
 * Existing deliveries are left; new ones are owed like those of an event recorded now, and overtaken ones are cancelled
 * if the webhook skips them. Call it with `lockMoves`, and `releaseTurns` after the commit.
 */
export async function unparkPiece(
  db: Database,
  { webhookId, shipperId, place }: { webhookId: string; shipperId: string; place: ParkedPlace },
  options: {
    /** Events from this position on are left for later. Null if no recording can omit a row meanwhile. */
    horizon: bigint | null;
    scanLimit: number;
    sendLimit: number;
    retentionMs: number;
    terminalStates: string[];
  },
): Promise<ParkedPiece> {
  const [row] = await db.query<{
    position: string | null;
    eventId: string | null;
    isEnd: boolean;
    expired: number;
    shipmentIds: string[];
  }>(
    'unpark-piece',
    `with w as materialized (
       select webhook_id, interests, supersede from webhooks where webhook_id = $4
     ), scanned as materialized (
       select shipper_id, event_id, shipment_id, sequence, state, erasure, position
         ${behind('$10', "position < coalesce($5::bigint, '9223372036854775807')")}
        order by position, event_id limit $6
     ), wanted as materialized (
       select s.*, s.event_id < uuid_floor(now() - ${ms('$8')}) as expired
         from scanned s cross join w
        where ${isInterested('s.state', 'w.interests')} and s.erasure is distinct from 'DONE'
     ), found as materialized (
       select s.*, delivery_id(s.event_id, $4) as delivery_id,
              w.supersede and s.state <> all($9::text[]) and exists (
                select 1 from ${eventsOf('s.shipment_id', 'state', `sequence > s.sequence order by sequence limit ${maxLaterStates}`)} l
                 where ${isInterested('l.state', 'w.interests')}) as overtaken
         from wanted s cross join w ${deliveryOf('s', '$4')}
        where not s.expired and d.delivery_id is null and o.delivery_id is null
        order by s.position, s.event_id limit $7
     ), reached as (
       -- If the piece is full, the rest of the events belong to the next one.
       (select position, event_id from found where (select count(*) from found) = $7
         order by position desc, event_id desc limit 1)
       union all
       (select position, event_id from scanned where (select count(*) from found) < $7
         order by position desc, event_id desc limit 1)
     ), added as (
       insert into outbox (shipper_id, delivery_id, event_id, webhook_id, shipment_id, sequence, state, status, due_at)
       select shipper_id, delivery_id, event_id, $4, shipment_id, sequence, state, 'READY',
              now() - ($7 - row_number() over (order by position, event_id)) * interval '1 microsecond'
         from found where not overtaken order by position, event_id
       on conflict do nothing
       returning shipment_id
     ), skipped as (
       ${insertIntoLog(`select shipper_id, delivery_id, event_id, $4::uuid, state, 'CANCELLED', 'SUPERSEDED', 0, now(),
                               null, null, ${noOutcome} from found where overtaken`)}
     )
     select r.position, r.event_id as "eventId",
            (select count(*) from scanned) < $6 and (select count(*) from found) < $7 as "isEnd",
            (select count(*)::int from wanted x
              where x.expired and (x.position, x.event_id) <= (r.position, r.event_id)) as expired,
            array(select shipment_id from added) as "shipmentIds"
       from (select 1) one left join reached r on true`,
    [
      shipperId,
      place.position,
      place.eventId,
      webhookId,
      options.horizon,
      options.scanLimit,
      options.sendLimit,
      options.retentionMs,
      options.terminalStates,
      firstIdAfter(place),
    ],
  );
  const { position, eventId, ...piece } = row!;
  return {
    ...piece,
    reached: position === null || eventId === null ? null : { position, eventId },
  };
}
