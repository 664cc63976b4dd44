import type { Database } from '../../platform/database/postgres.js';
import { deliveryOf, eventsIn, isMissed, parkedFrom } from '../outbox/replay.js';
import { isCallable, isInterested } from '../outbox/sql.js';

/** Which of a webhook's deliveries a replay catches up on. */
export interface ReplayRange {
  webhookId: string;
  shipperId: string;
  from: Date;
  /** Included. */
  to: Date;
  /** Nothing that was recorded before is sent: the log does not hold it. */
  keptSince: Date;
  /** Nothing that is recorded later is sent. */
  latest: Date;
  /** Only deliveries of this status; null for all that did not succeed and all that never were. */
  deliveryStatus: 'FAILED' | 'HELD' | 'PENDING' | null;
  trackingId: string | null;
}

/** What a request found in its span. */
export interface Counted {
  /** Deliveries to send; null where there are more events than a request looks at. */
  total: number | null;
  /** Events. */
  recorded: number;
  /** Of them, those of a state that the webhook wants. */
  wanted: number;
  /** Of these, those that were missed and are erased. */
  erased: number;
  /** Deliveries that only the status asked for leaves out. */
  otherStatus: number;
  /** Something was recorded in the part of the span that the log does not hold. */
  older: boolean;
}

/** How many replays may look for deliveries at once, and how many events a request looks at. */
export interface ReplayLimits {
  maxOfWebhook: number;
  maxOfShipper: number;
  maxEvents: number;
}

/**
 * Records a replay and counts what it will send, if there are fewer than `maxEvents` events. Null without that webhook
 * or, with a tracking id, without that shipment; `tooMany` if as many replays as may look for deliveries already do.
 */
export async function insertReplay(
  db: Database,
  replayId: string,
  range: ReplayRange,
  limits: ReplayLimits,
): Promise<Counted | 'tooMany' | null> {
  const rows = await db.query<Counted & { added: boolean }>('insert-replay', insertText, [
    replayId,
    range.webhookId,
    range.shipperId,
    new Date(Math.max(range.from.getTime(), range.keptSince.getTime())),
    new Date(Math.min(range.to.getTime(), range.latest.getTime()) + 1),
    range.deliveryStatus,
    range.trackingId,
    limits.maxOfWebhook,
    limits.maxEvents,
    range.from,
    range.to,
    limits.maxOfShipper,
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
                         end_event_id, total, from_at, to_at)
    select $1, webhook_id, shipper_id, shipment_id, $6, uuid_floor($4), uuid_floor($5),
           case when recorded < $9 then total end, $10, $11
      from target, counted where may_begin
    returning replay_id, total
  )
  select a.replay_id is not null as added, a.total, c.recorded, c.wanted, c.erased, c.other_status as "otherStatus",
         exists (${eventsIn('event_id >= uuid_floor($10) and event_id < uuid_floor($4)', { ...ofTarget, limit: '1' })}) as older
    from target w cross join counted c left join added a on true`;
