import type { Database } from '../platform/postgres.js';
import type { DueDelivery } from './enqueue.js';
import { missed } from './replay-store.js';

export interface ReplayTurn {
  replayId: string;
  webhookId: string;
  shipperId: string;
  shipmentId: string | null;
  deliveryStatus: string | null;
  lastEventId: string;
  endEventId: string;
  webhookDeleted: boolean;
}

/** Takes the replay whose next piece has waited longest, for this transaction; another worker takes another one. */
export async function takeReplay(db: Database): Promise<ReplayTurn | null> {
  const rows = await db.query<ReplayTurn>(
    'take-replay',
    `select r.replay_id as "replayId", r.webhook_id as "webhookId", r.shipper_id as "shipperId",
            r.shipment_id as "shipmentId", r.delivery_status as "deliveryStatus",
            r.last_event_id as "lastEventId", r.end_event_id as "endEventId",
            w.deleted_at is not null as "webhookDeleted"
       from replays r join webhooks w using (webhook_id)
      where r.status = 'RUNNING' and r.next_at <= now()
      order by r.next_at limit 1 for update of r skip locked`,
  );
  return rows[0] ?? null;
}

/** Deliveries of the webhook that are due and not sent yet, counted up to `limit`. */
export async function countDue(db: Database, webhookId: string, limit: number): Promise<number> {
  const rows = await db.query<{ count: number }>(
    'count-due',
    `select count(*)::int as count from (
       select 1 from deliveries
        where webhook_id = $1 and completed_at is null and status = 'PENDING' and due_at <= now()
        limit $2) due`,
    [webhookId, limit],
  );
  return rows[0]!.count;
}

export interface ReplayPiece {
  /** How far this piece got; null if there was nothing left to look at. */
  lastEventId: string | null;
  /** Deliveries it set going, those of a webhook that is not active included. */
  sent: number;
  /** Those that are due now. */
  due: DueDelivery[];
}

/**
 * Sets the next deliveries of a replay going, oldest event first: those that never were are made, the failed begin
 * their schedule anew, those that wait for a retry are due now, the held only get their trigger, for they go out in
 * their turn. Looks at no more than `scanLimit` events.
 */
export async function replayPiece(
  db: Database,
  turn: ReplayTurn,
  options: { scanLimit: number; sendLimit: number; graceMs: number; retentionMs: number },
): Promise<ReplayPiece> {
  const rows = await db.query<{
    lastEventId: string | null;
    deliveryId: string | null;
    status: string | null;
  }>(
    'replay-piece',
    `with scanned as materialized (
       select event_id, state from events
        where shipper_id = $2 and shipment_id is not null and ($3::uuid is null or shipment_id = $3)
          and event_id > greatest($5::uuid, uuid_floor(now() - make_interval(secs => $10::float8 / 1000)))
          and event_id < $6
        order by event_id limit $7
     ), found as materialized (
       select s.event_id, s.state, delivery_id(s.event_id, $1) as delivery_id, d.delivery_id is null as absent
         from scanned s
         join webhooks w on w.webhook_id = $1 and (s.state = any(w.interests) or '*' = any(w.interests))
         left join deliveries d on d.delivery_id = delivery_id(s.event_id, $1)
        where ${missed('$4')}
        order by s.event_id limit $8
     ), added as (
       insert into deliveries (delivery_id, event_id, webhook_id, state, status, trigger, due_at, sweep_at)
       select f.delivery_id, f.event_id, $1, f.state,
              case w.status when 'ACTIVE' then 'PENDING' else 'HELD' end, 'REPLAY',
              case w.status when 'ACTIVE' then now() end,
              case w.status when 'ACTIVE' then now() + make_interval(secs => $9::float8 / 1000) end
         from found f join webhooks w on w.webhook_id = $1
        where f.absent
       on conflict do nothing
       returning delivery_id, status
     ), moved as (
       update deliveries d
          set trigger = 'REPLAY', completed_at = null,
              turn_waited_since = case d.status when 'HELD' then d.turn_waited_since end,
              turn_waited = case d.status when 'HELD' then d.turn_waited end,
              failure_count = case d.status when 'FAILED' then 0 else d.failure_count end,
              status = case when d.status <> 'HELD' and w.status = 'ACTIVE' then 'PENDING' else 'HELD' end,
              due_at = case when d.status <> 'HELD' and w.status = 'ACTIVE' then now() end,
              sweep_at = case when d.status = 'HELD' then d.sweep_at
                              when w.status = 'ACTIVE' then now() + make_interval(secs => $9::float8 / 1000) end
         from found f, webhooks w
        where d.delivery_id = f.delivery_id and not f.absent and w.webhook_id = $1
          and d.status in ('FAILED', 'HELD', 'PENDING') and not d.claimed
       returning d.delivery_id, d.status
     ), sent as (
       select * from added union all select * from moved
     ), reached as (
       -- Full: the rest of what was looked at is the next piece's.
       select case when (select count(*) from found) = $8 then (select event_id from found order by event_id desc limit 1)
                   else (select event_id from scanned order by event_id desc limit 1) end as event_id
     )
     select r.event_id as "lastEventId", s.delivery_id as "deliveryId", s.status
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
      options.graceMs,
      options.retentionMs,
    ],
  );
  const sent = rows.filter((row) => row.deliveryId !== null);
  return {
    lastEventId: rows[0]?.lastEventId ?? null,
    sent: sent.length,
    due: sent.flatMap(({ deliveryId, status }) =>
      status === 'PENDING' ? [{ deliveryId: deliveryId!, webhookId: turn.webhookId }] : [],
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
