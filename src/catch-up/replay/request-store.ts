import type { Database } from '../../platform/database/postgres.js';
import { deliveryOf, eventsIn, isMissed, isParked, parkedFrom, owedBy } from './piece-store.js';
import { isCallable, isInterested, ms } from '../../engine/engine.js';

/** `NEVER_ATTEMPTED`: no delivery, or one without an attempt that is held because the webhook is not called. */
export const replayedStatuses = ['FAILED', 'HELD', 'PENDING', 'NEVER_ATTEMPTED'] as const;
export type ReplayedStatus = (typeof replayedStatuses)[number];

export interface ReplayRange {
  webhookId: string;
  shipperId: string;
  from: Date;
  to: Date;
  loggedSince: Date;
  latest: Date;
  deliveryStatus: ReplayedStatus | null;
  trackingId: string | null;
  /** Absent if its shipper asked for it. */
  requestedBy?: 'OPERATOR';
}

export interface ReplayCount {
  total: number | null;
  recorded: number;
  wanted: number;
  erased: number;
  otherStatus: number;
  parked: number;
  older: boolean;
}

export interface ReplayLimits {
  maxOfWebhook: number;
  maxOfShipper: number;
  maxEvents: number;
}

/** Counts fewer than `maxEvents` events. Null without the webhook or shipment; `tooMany` at the limit of replays. */
export async function insertReplay(
  db: Database,
  replayId: string,
  range: ReplayRange,
  limits: ReplayLimits,
): Promise<ReplayCount | 'tooMany' | null> {
  const rows = await db.query<ReplayCount & { added: boolean }>('insert-replay', insertText, [
    replayId,
    range.webhookId,
    range.shipperId,
    new Date(Math.max(range.from.getTime(), range.loggedSince.getTime())),
    new Date(Math.min(range.to.getTime(), range.latest.getTime()) + 1),
    range.deliveryStatus,
    range.trackingId,
    limits.maxOfWebhook,
    limits.maxEvents,
    range.from,
    range.to,
    limits.maxOfShipper,
    range.requestedBy ?? null,
  ]);
  const [row] = rows;
  if (!row) return null;
  const { added, ...counted } = row;
  return added ? counted : 'tooMany';
}

const ofTarget = { shipperId: 'w.shipper_id', shipmentId: 'w.shipment_id' };

const insertText = `
  with target as (
    select w.webhook_id, w.shipper_id, w.interests, s.shipment_id, ${isCallable('w')} as callable,
           ${parkedFrom('w')} as parked_from,
           (select count(*) < $12 and count(*) filter (where r.webhook_id = w.webhook_id) < $8 from replays r
             where r.shipper_id = w.shipper_id and r.status = 'RUNNING' and r.kind = 'ASKED'
               and r.walked_at is null) as may_begin
      from webhooks w
      left join shipments s on s.tracking_id = $7 and s.shipper_id = w.shipper_id
     where w.webhook_id = $2 and w.shipper_id = $3 and w.deleted_at is null
       and ($7::text is null or s.shipment_id is not null)
  ), counted as (
    select count(*)::int as recorded, (count(*) filter (where e.wanted))::int as wanted,
           (count(*) filter (where e.wanted and not e.erased and ${isMissed('e', '$6')}
                               and (o.replay_id is null or o.withdrawn)))::int as total,
           (count(*) filter (where $6::text is not null and e.wanted and not e.erased and ${isMissed('e', 'null')}
                               and (o.replay_id is null or o.withdrawn)))::int as other_status,
           (count(*) filter (where e.wanted and not e.erased and ${isParked('e')}))::int as parked,
           (count(*) filter (where e.wanted and e.erased and coalesce(d.status <> 'SUCCEEDED', true)))::int as erased
      from target w
     cross join lateral (
       select shipper_id, event_id, position, erasure is not distinct from 'DONE' as erased,
              ${isInterested('state', 'w.interests')} as wanted
         from (${eventsIn('event_id >= uuid_floor($4) and event_id < uuid_floor($5)', { ...ofTarget, limit: '$9' })}) s
     ) e
      ${deliveryOf('e', '$2', 'e.wanted')}
     where w.may_begin
  ), added as (
    insert into replays (replay_id, webhook_id, shipper_id, shipment_id, delivery_status, last_event_id,
                         end_event_id, total, from_at, to_at, requested_by)
    select $1, webhook_id, shipper_id, shipment_id, $6, uuid_floor($4), uuid_floor($5),
           case when recorded < $9 then total end, $10, $11, $13
      from target, counted where may_begin
    returning replay_id, total
  )
  select a.replay_id is not null as added, a.total, c.recorded, c.wanted, c.erased, c.other_status as "otherStatus", c.parked,
         exists (${eventsIn('event_id >= uuid_floor($10) and event_id < uuid_floor($4)', { ...ofTarget, limit: '1' })}) as older
    from target w cross join counted c left join added a on true`;

export interface Replay {
  replayId: string;
  webhookId: string;
  status: 'RUNNING' | 'DONE' | 'CANCELLED';
  done: number;
  total: number | null;
  /** Null for replays of an earlier version. */
  from: Date | null;
  to: Date | null;
  lastEventId: string;
  endEventId: string;
  deliveryStatus: string | null;
  trackingId: string | null;
  requestedBy: 'SHIPPER' | 'OPERATOR';
  createdAt: Date;
  finishedAt: Date | null;
}

/** `done` counts the deliveries that are no longer in the outbox under the replay's id. */
const columns = `r.replay_id as "replayId", r.webhook_id as "webhookId", r.status,
  r.done - case when r.status = 'RUNNING' or r.withdrawing
                then (select count(*)::int from ${owedBy('r.replay_id')} o) else 0 end as done,
  r.total, r.from_at as "from", r.to_at as "to", r.last_event_id as "lastEventId", r.end_event_id as "endEventId",
  r.delivery_status as "deliveryStatus", r.created_at as "createdAt", r.finished_at as "finishedAt",
  coalesce(r.requested_by, 'SHIPPER') as "requestedBy",
  (select tracking_id from shipments where shipment_id = r.shipment_id) as "trackingId"`;

export function listReplays(db: Database, limit: number): Promise<Replay[]> {
  return db.query<Replay>(
    'list-replays',
    `select ${columns} from (
       (select * from replays where status = 'RUNNING' and kind = 'ASKED' order by replay_id desc limit $1)
       union (select * from replays where kind = 'ASKED' order by replay_id desc limit $1)) r
      order by r.status = 'RUNNING' desc, r.replay_id desc limit $1`,
    [limit],
  );
}

export function replaysOfWebhook(
  db: Database,
  webhookId: string,
  beforeId: string | undefined,
  limit: number,
): Promise<Replay[]> {
  return db.query<Replay>(
    'replays-of-webhook',
    `select ${columns} from (
       select * from replays where webhook_id = $1 and kind = 'ASKED' and replay_id < coalesce($2, '${lastKey}'::uuid)
        order by replay_id desc limit $3) r
      order by r.replay_id desc`,
    [webhookId, beforeId ?? null, limit],
  );
}

const lastKey = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

export async function findReplay(
  db: Database,
  replayId: string,
  shipperId: string | null,
): Promise<Replay | null> {
  const rows = await db.query<Replay>(
    'find-replay',
    `select ${columns} from replays r where r.replay_id = $1 and r.kind = 'ASKED' and r.shipper_id = coalesce($2, r.shipper_id)`,
    [replayId, shipperId],
  );
  return rows[0] ?? null;
}

/** Waits for a piece that is being made. Resolves with null if the replay does not exist or has ended. */
export async function endReplay(
  tx: Database,
  replayId: string,
  shipperId: string | null,
): Promise<{ webhookId: string; shipperId: string } | null> {
  const rows = await tx.query<{ webhookId: string; shipperId: string }>(
    'end-replay',
    `update replays set status = 'CANCELLED', finished_at = now(), withdrawing = true, next_at = now()
      where replay_id = $1 and shipper_id = coalesce($2, shipper_id) and status = 'RUNNING'
        and kind = 'ASKED'
     returning webhook_id as "webhookId", shipper_id as "shipperId"`,
    [replayId, shipperId],
  );
  return rows[0] ?? null;
}

/** True if the replay has deliveries left, or ended so recently that an earlier claim may still start. */
export async function isEnding(
  db: Database,
  replayId: string,
  { shipperId, withinMs }: { shipperId: string | null; withinMs: number },
): Promise<boolean> {
  const rows = await db.query(
    'is-replay-ending',
    `select 1 from replays
      where replay_id = $1 and shipper_id = coalesce($2, shipper_id) and status = 'CANCELLED'
        and (withdrawing or finished_at > now() - ${ms('$3')})`,
    [replayId, shipperId, withinMs],
  );
  return rows.length > 0;
}
