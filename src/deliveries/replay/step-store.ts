import type { Database } from '../../platform/database/postgres.js';
import { insertAttempts, isCallable, sameDelivery } from '../outbox/sql.js';
import type { Turn } from '../outbox/types.js';
import { deliveryOf, missed } from './store.js';

export interface ReplayTurn {
  replayId: string;
  webhookId: string;
  shipperId: string;
  shipmentId: string | null;
  deliveryStatus: string | null;
  lastEventId: string;
  endEventId: string;
  /** Deliveries it has set going so far. */
  done: number;
  webhookDeleted: boolean;
}

/** Whether some replay may go on. */
export async function isAnyRipe(db: Database): Promise<boolean> {
  const rows = await db.query(
    'is-any-replay-ripe',
    `select 1 from replays where status = 'RUNNING' and next_at <= now() limit 1`,
  );
  return rows.length > 0;
}

/**
 * Takes the replay whose next piece has waited longest, for this transaction; another worker takes another one. Those of
 * suspended shippers wait.
 */
export async function takeReplay(db: Database): Promise<ReplayTurn | null> {
  const rows = await db.query<ReplayTurn>(
    'take-replay',
    `select r.replay_id as "replayId", r.webhook_id as "webhookId", r.shipper_id as "shipperId",
            r.shipment_id as "shipmentId", r.delivery_status as "deliveryStatus",
            r.last_event_id as "lastEventId", r.end_event_id as "endEventId", r.done,
            w.deleted_at is not null as "webhookDeleted"
       from replays r join webhooks w using (webhook_id)
      where r.status = 'RUNNING' and r.next_at <= now() and (not w.suspended or w.deleted_at is not null)
      order by r.next_at limit 1 for update of r skip locked`,
  );
  return rows[0] ?? null;
}

/** Deliveries of the webhook that are due and not sent yet, counted up to `limit`. */
export async function countDue(db: Database, webhookId: string, limit: number): Promise<number> {
  const rows = await db.query<{ count: number }>(
    'count-due',
    `select count(*)::int as count from (
       select 1 from outbox where webhook_id = $1 and due_at <= now() and status <> 'SENDING' limit $2) due`,
    [webhookId, limit],
  );
  return rows[0]!.count;
}

export interface ReplayPiece {
  /** How far this piece got; null if there was nothing left to look at. */
  lastEventId: string | null;
  /** Deliveries it set going, those of a webhook that is not called now included. */
  sent: number;
  /** What of it goes one at a time. */
  turns: Turn[];
}

/**
 * Sets the next deliveries of a replay going, oldest event first: those that never were are made, the failed come back
 * from the log and begin their schedule anew, those that wait for a retry are due now, the held only get their trigger,
 * for they go out in their turn. Looks at no more than `scanLimit` events. To be called with the lock on the webhook's
 * moves: without it two replays could both bring the same delivery back.
 */
export async function replayPiece(
  db: Database,
  turn: ReplayTurn,
  options: { scanLimit: number; sendLimit: number; retentionMs: number },
): Promise<ReplayPiece> {
  const rows = await db.query<{ lastEventId: string | null; shipmentId: string | null; ordered: boolean }>(
    'replay-piece',
    `with w as materialized (
       select webhook_id, shipper_id, interests, ordering, ${isCallable('w')} as callable from webhooks w where webhook_id = $1
     ), scanned as materialized (
       select shipper_id, event_id, shipment_id, sequence, state, erasure from events
        where shipper_id = $2 and shipment_id is not null and ($3::uuid is null or shipment_id = $3)
          and event_id > greatest($5::uuid, uuid_floor(now() - make_interval(secs => $9::float8 / 1000)))
          and event_id < $6
        order by event_id limit $7
     ), found as materialized (
       select s.*, delivery_id(s.event_id, $1) as delivery_id, o.delivery_id is not null as owed,
              d.delivery_id is not null as failed
         from scanned s
        cross join w
         ${deliveryOf('s', '$1')}
        where (s.state = any(w.interests) or '*' = any(w.interests)) and ${missed('$4')}
          and s.erasure is distinct from 'DONE'
          and not exists (select 1 from redeliveries r
                           where r.delivery_id = delivery_id(s.event_id, $1) and r.lease_until is not null)
        order by s.event_id limit $8
     ), back as (
       delete from deliveries d using found f where f.failed and ${sameDelivery('d', 'f')} and d.status = 'FAILED'
       returning d.*, f.shipment_id, f.sequence
     ), kept as (
       ${insertAttempts(`select shipper_id, delivery_id, attempt_count, trigger, started_at, duration_ms, status_code,
                                error_code, response_body, request_headers from back where started_at is not null`)}
     ), added as (
       insert into outbox (shipper_id, delivery_id, event_id, webhook_id, shipment_id, sequence, state, status, due_at,
                           attempt_count, trigger, replay_id)
       select shipper_id, delivery_id, event_id, $1, shipment_id, sequence, state, 'READY', now(), attempt_count,
              'REPLAY', $10::uuid
         from (select shipper_id, delivery_id, event_id, shipment_id, sequence, state, attempt_count from back
               union all
               select shipper_id, delivery_id, event_id, shipment_id, sequence, state, 0
                 from found where not owed and not failed) f
        order by event_id
       on conflict do nothing
       returning shipment_id
     ), moved as (
       update outbox o
          set trigger = 'REPLAY', replay_id = $10::uuid, due_at = case when o.waits_turn then null else least(o.due_at, now()) end
         from found f where f.owed and ${sameDelivery('o', 'f')} and o.status <> 'SENDING'
       returning o.shipment_id
     ), sent as (
       select * from added union all select * from moved
     ), reached as (
       -- Full: the rest of what was looked at is the next piece's.
       select case when (select count(*) from found) = $8 then (select event_id from found order by event_id desc limit 1)
                   else (select event_id from scanned order by event_id desc limit 1) end as event_id
     )
     select r.event_id as "lastEventId", s.shipment_id as "shipmentId", (select ordering from w) = 'SHIPMENT' as ordered
       from reached r left join sent s on true`,
    [
      turn.webhookId,
      turn.shipperId,
      turn.shipmentId,
      turn.deliveryStatus,
      turn.lastEventId,
      turn.endEventId,
      options.scanLimit,
      options.sendLimit,
      options.retentionMs,
      turn.replayId,
    ],
  );
  const sent = rows.filter((row) => row.shipmentId !== null);
  return {
    lastEventId: rows[0]?.lastEventId ?? null,
    sent: sent.length,
    turns: sent.flatMap(({ shipmentId, ordered }) =>
      ordered ? [{ webhookId: turn.webhookId, shipmentId: shipmentId! }] : [],
    ),
  };
}

/** Another try later; what was cancelled meanwhile stays so. */
export async function postponeReplay(db: Database, replayId: string, pauseMs: number): Promise<void> {
  await db.query(
    'postpone-replay',
    `update replays set next_at = now() + make_interval(secs => $2::float8 / 1000) where replay_id = $1`,
    [replayId, pauseMs],
  );
}

/** Notes how far a replay is, and when its next piece is due. */
export async function saveProgress(
  db: Database,
  replayId: string,
  progress: {
    lastEventId: string | null;
    sent: number;
    status: 'RUNNING' | 'DONE' | 'CANCELLED';
    pauseMs: number;
  },
): Promise<void> {
  await db.query(
    'save-replay-progress',
    `update replays
        set last_event_id = coalesce($2, last_event_id), done = done + $3, total = greatest(total, done + $3),
            status = $4,
            next_at = now() + make_interval(secs => $5::float8 / 1000),
            finished_at = case when $4 <> 'RUNNING' then now() end
      where replay_id = $1`,
    [replayId, progress.lastEventId, progress.sent, progress.status, progress.pauseMs],
  );
}
