import type { Database, Queries } from '../../platform/database/postgres.js';
import { rowSet } from '../../platform/database/parameters.js';
import type { TraceContext } from '../../platform/telemetry/tracing.js';
import { blocker, isActive, isInterested, isTroubled, ms, traceOf } from './sql.js';
import { maxClaimedBodyBytes, type Claim, type DueClaim, type Room } from './types.js';

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

interface OwedRow {
  eventId: string;
  /** Null in the row that reports the event itself as recorded. */
  deliveryId: string | null;
  webhookId: string;
  started: boolean;
  /** When it is due, by PostgreSQL's clock; the time of recording if it waits its turn. */
  dueAt: Date;
  waitsTurn: boolean;
  /** The webhook is parked: the delivery has no row, but may overtake earlier states. */
  parked: boolean;
  revision: number;
  ordered: boolean;
  supersedes: boolean;
  troubled: boolean;
}

export interface Owed extends OwedRow {
  deliveryId: string;
  event: EventRow;
}

/** The claim of a row that is inserted as claimed. */
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
 * True while a webhook is parked: its events get no outbox rows. The replay stores the feed position at which that
 * began.
 */
export const isParking = (replay: string) => `${replay}.kind = 'PARKED' and ${replay}.status = 'RUNNING'`;

/** Recordings share this advisory lock while a webhook of the shipper is parked. */
export const parkingKey = (shipperId: string) =>
  `hashtextextended('parcelhook-parking', 0) # hashtextextended(${shipperId}::text, 0)`;

const isBehind = `exists (
  select 1 from outbox u where u.webhook_id = webhooks.webhook_id and u.due_at <= now() and u.status <> 'SENDING')`;

/**
 * Part of `insert-events`: what the events in `recorded` owe to which webhook, and whether it waits its turn. A statement
 * does not see its own rows, so of several states of one shipment only the first may go. `room`: how many deliveries of
 * the webhook this process may start; none if it does not know the webhook, and something of it is due already.
 *
 * A parked webhook gets no rows; its events are returned because they may overtake earlier states. The lock on the
 * webhook's `PARKED` replay keeps the parking from ending during this statement. Row locks are not granted in the order
 * of requests: the end, which waits for all recordings, could wait for ever while they overlap. So an advisory lock of
 * the shipper, which is granted in order, comes first. If the parking has just ended, this statement does not see the
 * rows made from missed events. So every state that may have an earlier one waits its turn, and is checked again after
 * the commit.
 */
const fanOut = `
  seen as materialized (
    select p.replay_id, p.webhook_id, p.shipper_id
      from (select distinct shipper_id from recorded) r
     cross join lateral (
       select replay_id, webhook_id, shipper_id from replays p where shipper_id = r.shipper_id and ${isParking('p')}) p
  ), in_turn as materialized (
    select pg_advisory_xact_lock_shared(${parkingKey('shipper_id')}) as locked
      from (select distinct shipper_id from seen order by shipper_id) s
  ), parked as materialized (
    select p.webhook_id
      from seen
     cross join lateral (
       select webhook_id from replays p where replay_id = seen.replay_id and ${isParking('p')} for key share) p
     where (select count(locked) from in_turn) > 0
  ), owed as materialized (
    select r.*, delivery_id(r.event_id, w.webhook_id) as delivery_id, w.*,
           (w.webhook_id in (select webhook_id from parked)) is true as parked, -- always a hashed subplan
           w.ordering = 'SHIPMENT' and r.sequence > 1 and (
             (w.webhook_id in (select webhook_id from seen)) is true
             or row_number() over (partition by w.webhook_id, r.shipment_id order by r.sequence) > 1
             or exists (${blocker('before', '$5')})) as waits_turn
      from recorded r
     cross join lateral (
       select webhook_id, revision, ordering, supersede, called_since, c.troubled,
              ${isActive('webhooks')} and not coalesce(c.resting, false) as probed,
              case when ${isActive('webhooks')} and not coalesce(c.open, false)
                   then coalesce(($1::jsonb -> webhook_id::text)::int,
                                 case when ${isBehind} then 0 else $2::int end) else 0 end as room
         from webhooks
         left join lateral (select ${isTroubled('circuits')} as troubled, open_until is not null as open, open_until > now() as resting
                              from circuits where webhook_id = webhooks.webhook_id limit 1) c on true
        where shipper_id = r.shipper_id and deleted_at is null and ${isInterested('r.state', 'interests')}
       offset 0) w
     cross join lateral (select w.webhook_id, r.shipment_id, r.sequence offset 0) before
  )`;

/** Room is shared fairly between webhooks; the rest is READY or waits its turn. */
const claimWithinRoom = `
  placed as (
    select *, row_number() over (partition by webhook_id order by waits_turn, event_id) as place
      from owed where not parked
  ), started as materialized (
    select *, not waits_turn and place <= room
              and row_number() over (order by waits_turn or place > room, place, event_id) <= $3::int as starts
      from placed
  ), added as (
    insert into outbox (shipper_id, delivery_id, event_id, webhook_id, shipment_id, sequence, state, status, waits_turn,
                        due_at, lease_until, attempt_count)
    select shipper_id, delivery_id, event_id, webhook_id, shipment_id, sequence, state,
           case when starts then 'SENDING' else 'READY' end, waits_turn, case when not waits_turn then now() end,
           case when starts then now() + ${ms('$4')} end, starts::int
      from started
  )`;

const selectOwed = `
  select event_id as "eventId", null::uuid as "deliveryId", null::uuid as "webhookId", null::bool as started,
         null::bool as "waitsTurn", null::int as revision, null::bool as ordered, null::bool as supersedes,
         null::bool as troubled, now() as "dueAt", null::bool as parked
    from recorded
  union all
  select event_id, delivery_id, webhook_id, starts, waits_turn, revision, ordering = 'SHIPMENT', supersede,
         coalesce(troubled, false), now(), false
    from started
  union all
  select event_id, delivery_id, webhook_id, false, true, revision, ordering = 'SHIPMENT', supersede,
         coalesce(troubled, false), now(), true
    from owed where parked and supersede`;

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
  ${fanOut},
  ${claimWithinRoom}
  ${selectOwed}`;

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

/** `source` selects shipper_id, event_id, webhook_id and state of each delivery; none has a shipment. */
export const oweAtOnce = (source: string) => `
  insert into outbox (shipper_id, delivery_id, event_id, webhook_id, sequence, state, status, due_at)
  select shipper_id, delivery_id(event_id, webhook_id), event_id, webhook_id, 1, state, 'READY', now()
    from (${source}) o
  returning webhook_id`;

interface SampleEvent {
  eventId: string;
  state: string;
  body: string;
}

/**
 * The delivery is already claimed. Because of the lock on the webhook, a deletion either prevents the test or sees it.
 * Null without the webhook, or if its shipper is suspended.
 */
export async function insertTest(
  db: Database,
  shipperId: string,
  webhookId: string,
  event: SampleEvent,
  leaseMs: number,
): Promise<Claim | null> {
  const rows = await db.query<Pick<Claim, 'deliveryId' | 'revision' | 'troubled' | 'recordedAt' | 'trace'>>(
    'insert-test',
    `with w as (
       select * from webhooks where webhook_id = $2 and shipper_id = $1 and deleted_at is null and not suspended for share
     ), recorded as (
       insert into events (event_id, shipper_id, sequence, state, recorded_at, body)
       select $3, shipper_id, 1, $4, now(), $5 from w
       returning event_id, trace
     ), owed as (
       insert into outbox (shipper_id, delivery_id, event_id, webhook_id, sequence, state, status, due_at, lease_until,
                           attempt_count, trigger)
       select shipper_id, delivery_id($3::uuid, webhook_id), $3::uuid, webhook_id, 1, $4, 'SENDING', now(),
              now() + ${ms('$6')}, 1, 'TEST'
         from w
       returning delivery_id
     )
     select o.delivery_id as "deliveryId", w.revision, now() as "recordedAt",
            exists (select 1 from circuits c where c.webhook_id = w.webhook_id and ${isTroubled('c')}) as troubled,
            ${traceOf('e')} as trace
       from w, owed o, recorded e`,
    [shipperId, webhookId, event.eventId, event.state, event.body, leaseMs],
  );
  const [row] = rows;
  if (!row) return null;
  return {
    ...row,
    shipperId,
    webhookId,
    eventId: event.eventId,
    body: event.body,
    large: null,
    shipmentId: null,
    sequence: 1,
    number: 1,
    trigger: 'TEST',
    failureCount: 0,
    ordered: false,
    supersedes: false,
    isProbe: false,
    erased: false,
  };
}
