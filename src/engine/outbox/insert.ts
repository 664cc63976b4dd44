import { blocker, isActive, isInterested, isTroubled, ms } from './sql.js';

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
 * Part of the statement that records events: what the events in `recorded` (event_id, shipper_id, shipment_id,
 * sequence, state) owe to which webhook, and whether it waits its turn. A statement does not see its own rows, so of
 * several states of one shipment only the first may go. `room`: how many deliveries of the webhook this process may
 * start; none if it does not know the webhook, and something of it is due already.
 *
 * A parked webhook gets no rows; its events are returned because they may overtake earlier states. The lock on the
 * webhook's `PARKED` replay keeps the parking from ending during this statement. Row locks are not granted in the order
 * of requests: the end, which waits for all recordings, could wait for ever while they overlap. So an advisory lock of
 * the shipper, which is granted in order, comes first. If the parking has just ended, this statement does not see the
 * rows made from missed events. So every state that may have an earlier one waits its turn, and is checked again after
 * the commit.
 */
export const fanOut = (given: { byWebhook: string; ofOthers: string; holdMs: string }) => `
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
             or exists (${blocker('before', given.holdMs)})) as waits_turn
      from recorded r
     cross join lateral (
       select webhook_id, revision, ordering, supersede, called_since, c.troubled,
              ${isActive('webhooks')} and not coalesce(c.resting, false) as probed,
              case when ${isActive('webhooks')} and not coalesce(c.open, false)
                   then coalesce((${given.byWebhook}::jsonb -> webhook_id::text)::int,
                                 case when ${isBehind} then 0 else ${given.ofOthers}::int end) else 0 end as room
         from webhooks
         left join lateral (select ${isTroubled('circuits')} as troubled, open_until is not null as open, open_until > now() as resting
                              from circuits where webhook_id = webhooks.webhook_id limit 1) c on true
        where shipper_id = r.shipper_id and deleted_at is null and ${isInterested('r.state', 'interests')}
       offset 0) w
     cross join lateral (select w.webhook_id, r.shipment_id, r.sequence offset 0) before
  )`;

/** Room is shared fairly between webhooks; the rest is READY or waits its turn. */
export const claimWithinRoom = (given: { total: string; leaseMs: string }) => `
  placed as (
    select *, row_number() over (partition by webhook_id order by waits_turn, event_id) as place
      from owed where not parked
  ), started as materialized (
    select *, not waits_turn and place <= room
              and row_number() over (order by waits_turn or place > room, place, event_id) <= ${given.total}::int as starts
      from placed
  ), added as (
    insert into outbox (shipper_id, delivery_id, event_id, webhook_id, shipment_id, sequence, state, status, waits_turn,
                        due_at, lease_until, attempt_count)
    select shipper_id, delivery_id, event_id, webhook_id, shipment_id, sequence, state,
           case when starts then 'SENDING' else 'READY' end, waits_turn, case when not waits_turn then now() end,
           case when starts then now() + ${ms(given.leaseMs)} end, starts::int
      from started
  )`;

export interface OwedRow {
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

export const selectOwed = `
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

/** `source` selects shipper_id, event_id, webhook_id and state of each delivery; none has a shipment. */
export const oweAtOnce = (source: string) => `
  insert into outbox (shipper_id, delivery_id, event_id, webhook_id, sequence, state, status, due_at)
  select shipper_id, delivery_id(event_id, webhook_id), event_id, webhook_id, 1, state, 'READY', now()
    from (${source}) o
  returning webhook_id`;

export const oweTest = (source: string, leaseMs: string) => `
  insert into outbox (shipper_id, delivery_id, event_id, webhook_id, sequence, state, status, due_at, lease_until,
                      attempt_count, trigger)
  select shipper_id, delivery_id(event_id, webhook_id), event_id, webhook_id, 1, state, 'SENDING', now(),
         now() + ${ms(leaseMs)}, 1, 'TEST'
    from (${source}) o
  returning delivery_id`;
