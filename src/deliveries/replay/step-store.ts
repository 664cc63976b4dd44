import type { Database } from '../../platform/database/postgres.js';
import { insertAttempts, isCallable, isInterested, ms, sameDelivery } from '../outbox/sql.js';
import type { Turn } from '../outbox/types.js';
import { deliveryOf, eventsIn, missed } from './missed.js';

export interface ReplayInHand {
  replayId: string;
  webhookId: string;
  shipperId: string;
  shipmentId: string | null;
  deliveryStatus: string | null;
  lastEventId: string;
  endEventId: string;
  /** Deliveries it has set going so far. */
  done: number;
  setbacks: number;
  webhookDeleted: boolean;
  /** Whether its webhook is called now. */
  callable: boolean;
}

/** Whether some replay may go on, and whether something is left of a cancelled one. */
export async function whatReplaysNeed(db: Database): Promise<{ ripe: boolean; withdrawing: boolean }> {
  const [row] = await db.query<{ ripe: boolean; withdrawing: boolean }>(
    'what-replays-need',
    `select exists (select 1 from replays where status = 'RUNNING' and next_at <= now()) as ripe,
            exists (select 1 from replays where withdrawing and next_at <= now()) as withdrawing`,
  );
  return row!;
}

/**
 * Takes the replay whose next piece has waited longest, for this transaction; another worker takes another one. Those of
 * suspended shippers wait.
 */
export async function takeReplay(db: Database): Promise<ReplayInHand | null> {
  const rows = await db.query<ReplayInHand>(
    'take-replay',
    `select r.replay_id as "replayId", r.webhook_id as "webhookId", r.shipper_id as "shipperId",
            r.shipment_id as "shipmentId", r.delivery_status as "deliveryStatus",
            r.last_event_id as "lastEventId", r.end_event_id as "endEventId", r.done, r.setbacks,
            w.deleted_at is not null as "webhookDeleted", ${isCallable('w')} as callable
       from replays r join webhooks w using (webhook_id)
      where r.status = 'RUNNING' and r.walked_at is null and r.next_at <= now()
        and (not w.suspended or w.deleted_at is not null)
      order by r.next_at limit 1 for update of r skip locked`,
  );
  return rows[0] ?? null;
}

/**
 * The number of rows that all replays of the webhook have in the outbox, whatever they wait for, counted up to `limit`.
 * While the lock on the webhook's moves is held, nobody adds to them.
 */
export async function countOwed(
  db: Database,
  { shipperId, webhookId }: ReplayInHand,
  limit: number,
): Promise<number> {
  const rows = await db.query<{ count: number }>(
    'count-owed-by-replays',
    `select count(*)::int as count from (
       select 1 from replays r
        cross join lateral (select 1 from outbox where replay_id = r.replay_id limit $3) o
        where r.shipper_id = $1 and r.webhook_id = $2 and (r.status = 'RUNNING' or r.withdrawing)
        limit $3) owed`,
    [shipperId, webhookId, limit],
  );
  return rows[0]!.count;
}

/** The last event that a replay has passed; events that the log no longer keeps count as passed. */
const lookedTo = (lastEventId: string, retentionMs: string) =>
  `greatest(${lastEventId}::uuid, uuid_floor(now() - ${ms(retentionMs)}))`;

export interface ReplayPiece {
  /** How far this piece got; null if there was nothing left to look at. */
  lastEventId: string | null;
  /** Deliveries it set going, those of a webhook that is not called now included. Without what another replay owes. */
  sent: number;
  /** Something is due; it may be owed by another replay, too. */
  anythingSent: boolean;
  /** What of it goes one at a time. */
  turns: Turn[];
}

/**
 * Sets the next deliveries of a replay going, oldest event first: those that never were are made, the failed come back
 * from the log and begin their schedule anew, those that wait for a retry are due now, the held only get their trigger,
 * for they go out in their turn. What another replay owes stays that one's, unless it was cancelled. Looks at no more
 * than `scanLimit` events. To be called with the lock on the webhook's moves: without it two replays could both bring the
 * same delivery back.
 */
export async function replayPiece(
  db: Database,
  replay: ReplayInHand,
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
       select webhook_id, shipper_id, interests, ordering, ${isCallable('w')} as callable from webhooks w where webhook_id = $1
     ), scanned as materialized (
       ${eventsIn(`event_id > ${lookedTo('$5', '$9')} and event_id < $6`, {
         shipperId: '$2',
         shipmentId: '$3',
         limit: '$7',
       })}
     ), found as materialized (
       select s.*, delivery_id(s.event_id, $1) as delivery_id, o.delivery_id is not null as owed,
              d.delivery_id is not null as failed
         from scanned s
        cross join w
         ${deliveryOf('s', '$1')}
        where ${isInterested('s.state', 'w.interests')} and ${missed('$4')}
          and s.erasure is distinct from 'DONE'
          and not exists (select 1 from redeliveries r
                           where r.delivery_id = delivery_id(s.event_id, $1) and r.lease_until is not null)
        order by s.event_id limit $8
     ), back as (
       delete from deliveries d using found f where f.failed and ${sameDelivery('d', 'f')} and d.status = 'FAILED'
       returning d.*, f.shipment_id, f.sequence
     ), kept as (
       ${insertAttempts(`select shipper_id, delivery_id, attempt_count, trigger, started_at, duration_ms, status_code,
                                error_code, error_detail, response_body, request_headers from back
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
              withdrawn = false,
              trigger = case when o.status = 'SENDING' then o.trigger else 'REPLAY' end,
              due_at = case when o.waits_turn then null when o.status = 'SENDING' then coalesce(o.due_at, now())
                            else least(o.due_at, now()) end,
              scheduled_at = case when o.status <> 'SENDING' and o.due_at > now() then o.due_at else o.scheduled_at end
         from found f where f.owed and ${sameDelivery('o', 'f')} and (o.status <> 'SENDING' or o.withdrawn)
       returning o.shipment_id, o.replay_id = $10::uuid as own
     ), sent as (
       select * from added union all select * from moved
     ), reached as (
       -- Full: the rest of what was looked at is the next piece's.
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

/** Another try later; what was cancelled meanwhile stays so. */
export async function postponeReplay(
  db: Database,
  replayId: string,
  pauseMs: number,
  setbacks = 0,
): Promise<void> {
  await db.query(
    'postpone-replay',
    `update replays set next_at = now() + ${ms('$2')}, setbacks = setbacks + $3 where replay_id = $1`,
    [replayId, pauseMs, setbacks],
  );
}

/**
 * Leaves the next event out and sets `setbacks`; the next piece begins behind it, after a pause. Returns that event's
 * id.
 */
export async function passOver(
  db: Database,
  replay: ReplayInHand,
  options: { setbacks: number; pauseMs: number; retentionMs: number },
): Promise<string | null> {
  const [next] = await db.query<{ event_id: string }>(
    'next-of-replay',
    `select event_id from (${eventsIn(`event_id > ${lookedTo('$3', '$5')} and event_id < $4`, {
      shipperId: '$1',
      shipmentId: '$2',
      limit: '1',
    })}) e`,
    [replay.shipperId, replay.shipmentId, replay.lastEventId, replay.endEventId, options.retentionMs],
  );
  await db.query(
    'pass-over',
    `update replays set last_event_id = coalesce($3, last_event_id), setbacks = $4, next_at = now() + ${ms('$5')}
      where replay_id = $1 and last_event_id = $2`,
    [replay.replayId, replay.lastEventId, next?.event_id ?? null, options.setbacks, options.pauseMs],
  );
  return next?.event_id ?? null;
}

/** Notes how far a replay is; its next piece is due now. `walked`: it has found all its deliveries. */
export async function saveProgress(
  db: Database,
  replayId: string,
  progress: { lastEventId: string | null; sent: number; walked: boolean },
): Promise<void> {
  await db.query(
    'save-replay-progress',
    `update replays
        set last_event_id = coalesce($2, last_event_id), done = done + $3,
            total = case when $4 then done + $3 when total is not null then greatest(total, done + $3) end,
            walked_at = case when $4 then now() end, setbacks = greatest(setbacks - 1, 0),
            next_at = now()
      where replay_id = $1`,
    [replayId, progress.lastEventId, progress.sent, progress.walked],
  );
}

/** Ends a replay whose webhook is deleted: what it has set going is cancelled with all the webhook was owed. */
export async function endWithWebhook(db: Database, replayId: string): Promise<void> {
  await db.query(
    'end-replay-with-webhook',
    `update replays set status = 'CANCELLED', finished_at = now() where replay_id = $1`,
    [replayId],
  );
}

/**
 * Ends replays that have found all and of which nothing is owed any more. The others are looked at again later, the more
 * rarely the longer they last: for days, where a retry is owed.
 */
export async function finishSettled(
  db: Database,
  options: { pauseMs: number; limit: number },
): Promise<void> {
  await db.query(
    'finish-replays',
    `with looked as materialized (
       select r.replay_id, exists (select 1 from outbox where replay_id = r.replay_id) as owed,
              (select deleted_at is not null from webhooks where webhook_id = r.webhook_id) as deleted
         from (select replay_id, webhook_id from replays
                where status = 'RUNNING' and walked_at is not null and next_at <= now()
                order by next_at limit $2 for no key update skip locked) r
     )
     update replays r
        set status = case when l.owed then 'RUNNING' when l.deleted then 'CANCELLED' else 'DONE' end,
            finished_at = case when not l.owed then now() end,
            next_at = now() + least(interval '30 s', greatest(${ms('$1')}, (now() - r.walked_at) / 20))
       from looked l where r.replay_id = any(array[l.replay_id])`,
    [options.pauseMs, options.limit],
  );
}
