import { type Database, isFaultOfPiece } from '../../platform/database/postgres.js';
import {
  eventsOf,
  insertAttempts,
  insertIntoLog,
  isCallable,
  isInterested,
  isWithdrawn,
  ms,
  outcomeColumns,
  outcomeOf,
  sameDelivery,
  takeOut,
  type Turn,
  type Due,
} from '../../engine/engine.js';
import type { Logger } from '../../platform/telemetry/logger.js';

export interface ReplaySpan {
  replayId: string;
  webhookId: string;
  shipperId: string;
  shipmentId: string | null;
  deliveryStatus: string | null;
  lastEventId: string;
  endEventId: string;
}

/**
 * True for an event that is not recorded as owed because webhook `w` is parked: it is sent without a replay. Needs what
 * `missedAs` needs.
 */
export const isParked = (event: string) =>
  `(d.delivery_id is null and o.delivery_id is null and coalesce(${event}.position >= w.parked_from, false))`;

/**
 * How a webhook has missed an event; null if it has not: the delivery succeeded, was cancelled, is being sent, or
 * belongs to another running replay. A row that a cancelled replay has yet to give back counts as given back. Parked
 * events are sent without a replay, so they do not count. Needs the joins of `deliveryOf`, the event's position, and
 * `callable` and `parked_from` of webhook `w`.
 */
const missedAs = (event: string) => `case
    when d.delivery_id is not null then case when d.status = 'FAILED' then 'failed' end
    when o.delivery_id is null then case when not ${isParked(event)} then 'neverOwed' end
    when o.withdrawn and o.only_replayed then case when o.attempt_count = 0 then 'neverOwed' else 'failed' end
    when o.status = 'SENDING' or o.trigger = 'REPLAY' and not o.withdrawn then null
    when not w.callable and o.attempt_count = 0 and (o.waits_turn or o.due_at <= now()) then 'heldUnattempted'
    when o.waits_turn or o.due_at <= now() and not w.callable then 'held'
    when o.status = 'RETRY' and o.due_at > now() then 'waiting'
  end`;

/**
 * True for an event that was missed as the requested status means (null: in any way; unknown here: in none). A delivery
 * that only waits for its turn at a webhook that is called does not count as never attempted.
 */
export const isMissed = (event: string, status: string) => `(${missedAs(event)}) = any(case
    when ${status}::text is null then array['neverOwed', 'failed', 'held', 'heldUnattempted', 'waiting']
    when ${status} = 'FAILED' then array['failed'] when ${status} = 'HELD' then array['held', 'heldUnattempted']
    when ${status} = 'PENDING' then array['waiting']
    when ${status} = 'NEVER_ATTEMPTED' then array['neverOwed', 'heldUnattempted']
    else array[]::text[] end)`;

/** The feed position from which on webhook `w` is parked; null if it is not. */
export const parkedFrom = (w: string) => `(select last_position from replays
  where shipper_id = ${w}.shipper_id and webhook_id = ${w}.webhook_id and status = 'RUNNING' and kind = 'PARKED')`;

/** Joins the delivery of an event to a webhook: `d` from the log, or `o` from the outbox. */
export const deliveryOf = (event: string, webhookId: string, condition = 'true') => `
  left join lateral (
    select shipper_id, delivery_id, status from deliveries
     where ${condition} and shipper_id = ${event}.shipper_id and delivery_id = delivery_id(${event}.event_id, ${webhookId})
     limit 1) d on true
  left join lateral (
    select shipper_id, delivery_id, status, trigger, waits_turn, only_replayed, attempt_count, replay_id, withdrawn,
           case when withdrawn and not waits_turn then coalesce(scheduled_at, due_at) else due_at end as due_at
      from outbox cross join lateral (select ${isWithdrawn('outbox')} as withdrawn offset 0) r
     where ${condition} and shipper_id = ${event}.shipper_id and delivery_id = delivery_id(${event}.event_id, ${webhookId})
     limit 1) o on true`;

export const owedBy = (replayId: string) => `(select 1 from outbox where replay_id = ${replayId})`;

/** The events that meet the condition, oldest first; those of all shipments if `of.shipmentId` is null. */
export const eventsIn = (
  condition: string,
  of: { shipperId: string; shipmentId: string; limit: string },
) => `(select shipper_id, event_id, shipment_id, sequence, state, erasure, position from events
        where ${of.shipmentId}::uuid is null and shipper_id = ${of.shipperId} and shipment_id is not null and ${condition}
        order by event_id limit ${of.limit})
      union all
      (select * from ${eventsOf(`${of.shipmentId}::uuid`, 'shipper_id, event_id, shipment_id, sequence, state, erasure, position', 'true order by sequence')} of_shipment
        where ${condition} order by event_id limit ${of.limit})`;

/** Counted up to `limit`. None is added while the caller holds `lockMoves`. */
export async function countOwed(
  db: Database,
  { shipperId, webhookId }: ReplaySpan,
  limit: number,
): Promise<number> {
  const rows = await db.query<{ count: number }>(
    'count-owed-by-replays',
    `select count(*)::int as count from (
       select 1 from replays r
        cross join lateral (select 1 from ${owedBy('r.replay_id')} one limit $3) o
        where r.shipper_id = $1 and r.webhook_id = $2 and (r.status = 'RUNNING' or r.withdrawing)
        limit $3) owed`,
    [shipperId, webhookId, limit],
  );
  return rows[0]!.count;
}

/** Events older than the log's retention count as passed. */
export const passedTo = (lastEventId: string, retentionMs: string) =>
  `greatest(${lastEventId}::uuid, uuid_floor(now() - ${ms(retentionMs)}))`;

export interface ReplayPiece {
  /** Null if no event was left. */
  lastEventId: string | null;
  /** Deliveries to send, even if the webhook is not called now. Those of another replay are not counted. */
  sent: number;
  anythingSent: boolean;
  turns: Turn[];
}

/**
 * Oldest event first. Deliveries that never existed are inserted. Failed ones come back from the log and restart their
 * schedule. Those waiting for a retry become due now. Held ones only get the trigger, because they are sent anyway.
 * Those of another replay stay with it, unless it was cancelled: then this one takes them over. Scans at most
 * `scanLimit` events. Call it with `lockMoves`: otherwise two replays could both bring back the same delivery.
 */
export async function replayPiece(
  db: Database,
  replay: ReplaySpan,
  options: { scanLimit: number; sendLimit: number; retentionMs: number },
): Promise<ReplayPiece> {
  const rows = await db.query<{
    lastEventId: string | null;
    shipmentId: string | null;
    own: boolean;
    ordered: boolean;
  }>(
    'replay-piece',
    `with w as materialized (
       select webhook_id, shipper_id, interests, ordering, ${isCallable('w')} as callable,
              ${parkedFrom('w')} as parked_from
         from webhooks w where webhook_id = $1
     ), scanned as materialized (
       ${eventsIn(`event_id > ${passedTo('$5', '$9')} and event_id < $6`, {
         shipperId: '$2',
         shipmentId: '$3',
         limit: '$7',
       })}
     ), found as materialized (
       select s.*, delivery_id(s.event_id, $1) as delivery_id, o.delivery_id is not null as owed,
              d.delivery_id is not null as failed, case when o.withdrawn then o.replay_id end as taken_from
         from scanned s
        cross join w
         ${deliveryOf('s', '$1')}
        where ${isInterested('s.state', 'w.interests')} and ${isMissed('s', '$4')}
          and s.erasure is distinct from 'DONE'
          and not exists (select 1 from redeliveries r
                           where r.delivery_id = delivery_id(s.event_id, $1) and r.lease_until is not null)
        order by s.event_id limit $8
     ), back as (
       delete from deliveries d using found f where f.failed and ${sameDelivery('d', 'f')} and d.status = 'FAILED'
       returning d.*, f.shipment_id, f.sequence
     ), kept as (
       ${insertAttempts(`select shipper_id, delivery_id, attempt_count, trigger, started_at, ${outcomeColumns} from back
                           where started_at is not null`)}
     ), added as (
       insert into outbox (shipper_id, delivery_id, event_id, webhook_id, shipment_id, sequence, state, status, due_at,
                           attempt_count, trigger, replay_id, only_replayed)
       select shipper_id, delivery_id, event_id, $1, shipment_id, sequence, state, 'READY', now(), attempt_count,
              'REPLAY', $10::uuid, true
         from (select shipper_id, delivery_id, event_id, shipment_id, sequence, state, attempt_count from back
               union all
               select shipper_id, delivery_id, event_id, shipment_id, sequence, state, 0
                 from found where not owed and not failed) f
        order by event_id
       on conflict do nothing
       returning shipment_id, true as own
     ), moved as (
       update outbox o
          set replay_id = case when exists (select 1 from replays where replay_id = o.replay_id and status = 'RUNNING')
                                then o.replay_id else $10::uuid end,
              trigger = case when o.status = 'SENDING' then o.trigger else 'REPLAY' end,
              due_at = case when o.waits_turn then null when o.status = 'SENDING' then coalesce(o.due_at, now())
                            else least(o.due_at, now()) end,
              scheduled_at = case when o.status <> 'SENDING' and o.due_at > now() then o.due_at else o.scheduled_at end
         from found f where f.owed and ${sameDelivery('o', 'f')} and (o.status <> 'SENDING' or o.only_replayed and ${isWithdrawn('o')})
       returning o.shipment_id, o.replay_id = $10::uuid as own, f.taken_from
     ), uncounted as (
       update replays r set done = r.done - t.taken
         from (select taken_from, count(*)::int as taken from moved where own and taken_from is not null
                group by taken_from) t
        where r.replay_id = any(array[t.taken_from])
     ), sent as (
       select shipment_id, own from added union all select shipment_id, own from moved
     ), reached as (
       -- If the piece is full, the rest of the events belong to the next one.
       select case when (select count(*) from found) = $8 then (select event_id from found order by event_id desc limit 1)
                   else (select event_id from scanned order by event_id desc limit 1) end as event_id
     )
     select r.event_id as "lastEventId", s.shipment_id as "shipmentId", s.own,
            (select ordering from w) = 'SHIPMENT' as ordered
       from reached r left join sent s on true`,
    [
      replay.webhookId,
      replay.shipperId,
      replay.shipmentId,
      replay.deliveryStatus,
      replay.lastEventId,
      replay.endEventId,
      options.scanLimit,
      options.sendLimit,
      options.retentionMs,
      replay.replayId,
    ],
  );
  const sent = rows.filter((row) => row.shipmentId !== null);
  return {
    lastEventId: rows[0]?.lastEventId ?? null,
    sent: sent.filter(({ own }) => own).length,
    anythingSent: sent.length > 0,
    turns: sent.flatMap(({ shipmentId, ordered }) =>
      ordered ? [{ webhookId: replay.webhookId, shipmentId: shipmentId! }] : [],
    ),
  };
}

/**
 * A delivery owed only because of the replay enters the log as FAILED with its last attempt, or is deleted if it never
 * had one. One that was owed anyway gets back its earlier schedule. Deliveries being sent or with a requested manual
 * attempt are left. Locked rows are skipped, because other statements lock in a different order. Call it with
 * `lockMoves`, and `releaseTurns` after the commit.
 */
export async function withdrawPage(
  tx: Database,
  replayId: string,
  limit: number,
): Promise<{ shipmentIds: string[]; anythingDue: boolean }> {
  const [row] = await tx.query<{ shipmentIds: string[]; anythingDue: boolean }>(
    'withdraw-page',
    `with page as materialized (
       select o.shipper_id, o.delivery_id, o.only_replayed from outbox o
        where o.replay_id = $1
          and not (o.only_replayed and (o.status = 'SENDING'
                     or exists (select 1 from redeliveries r where r.delivery_id = o.delivery_id)))
        order by o.delivery_id limit $2 for update of o skip locked
     ), as_before as (
       update outbox o
          set replay_id = null,
              trigger = case when o.status = 'SENDING' then o.trigger else 'SCHEDULED' end,
              due_at = case when o.waits_turn then o.due_at else coalesce(o.scheduled_at, o.due_at) end,
              scheduled_at = case when o.waits_turn then o.scheduled_at end
         from page p where not p.only_replayed and ${sameDelivery('o', 'p')}
       returning o.shipment_id, coalesce(o.due_at <= now(), false) as is_due
     ), only_replayed as (
       select * from page where only_replayed
     ), gone as (${takeOut('only_replayed')}), tried as materialized (
       select g.shipper_id, g.delivery_id, g.event_id, g.webhook_id, g.state, g.attempt_count, a.number, a.trigger,
              a.started_at, ${outcomeOf('a')}
         from gone g left join lateral (
           select * from attempts where delivery_id = g.delivery_id and number = g.attempt_count limit 1) a on true
        where g.attempt_count > 0
     ), logged as (
       ${insertIntoLog(`select shipper_id, delivery_id, event_id, webhook_id, state, 'FAILED',
                               case when detail::json ->> 'errorDetail' = 'REFUSED' then 'REFUSED' end, attempt_count,
                               coalesce(started_at + ${ms('coalesce(duration_ms, 0)')}, now()), trigger, started_at,
                               ${outcomeColumns} from tried
                        on conflict do nothing returning delivery_id`)}
     ), moved as (
       delete from attempts a using tried t join logged using (delivery_id)
        where a.delivery_id = any(array[t.delivery_id]) and a.number = any(array[t.number])
     )
     select coalesce(array_agg(shipment_id), '{}') as "shipmentIds", coalesce(bool_or(is_due), false) as "anythingDue"
       from (select shipment_id, is_due from as_before union all select shipment_id, false from gone) taken_back`,
    [replayId, limit],
  );
  return row!;
}

export interface WithdrawDependencies {
  db: Database;
  logger: Logger;
  orderHoldMs: number;
  notify(due: Due[]): void;
}

export interface ReplayDependencies extends WithdrawDependencies {
  retentionMs: number;
  /** A webhook that is not called is checked a quarter as often. */
  replayEveryMs: number;
  terminalStates: string[];
  /** Later statements of the transaction see all events before it. */
  horizon(tx: Database): Promise<bigint>;
}

export const deliveriesPerPiece = 1_000;
export const eventsPerPiece = 5_000;
export const piecesPerRun = 20;
export const retryPauseMs = 2_000;
export const setbacksToSingleEvent = Math.ceil(Math.log2(eventsPerPiece));
const triesOfSingleEvent = 3;

export const pieceSizeAfter = (setbacks: number) => Math.max(1, Math.floor(eventsPerPiece / 2 ** setbacks));

/** The next piece is the same one again, one half as large, or one without its first event. */
export function nextPieceAfter(error: unknown, setbacks: number): 'again' | 'smaller' | 'skip' {
  if (!isFaultOfPiece(error)) return 'again';
  return setbacks + 1 < setbacksToSingleEvent + triesOfSingleEvent ? 'smaller' : 'skip';
}
