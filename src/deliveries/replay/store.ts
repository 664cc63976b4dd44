import type { Database } from '../../platform/database/postgres.js';
import { isCallable } from '../outbox/sql.js';

/** Which of a webhook's deliveries a replay catches up on. */
export interface ReplayRange {
  webhookId: string;
  shipperId: string;
  from: Date;
  /** Included. */
  to: Date;
  /** Only deliveries of this status; null for all that did not succeed and all that never were. */
  deliveryStatus: 'FAILED' | 'HELD' | 'PENDING' | null;
  trackingId: string | null;
}

/**
 * What a replay sends of a webhook's event: what never was owed, what failed, what is held, and what waits for a retry.
 * Needs `d` (the delivery in the log) and `o` (in the outbox), one of them or both null, whether webhook `w` is
 * `callable`, and the parameter with the status asked for.
 */
export const missed = (status: string) => `case
    when d.delivery_id is not null then d.status = 'FAILED' and coalesce(${status}::text = 'FAILED', true)
    when o.delivery_id is null then ${status}::text is null
    when o.status = 'SENDING' or o.trigger = 'REPLAY' then false
    when o.waits_turn or o.due_at <= now() and not w.callable then coalesce(${status}::text = 'HELD', true)
    else o.status = 'RETRY' and o.due_at > now() and coalesce(${status}::text = 'PENDING', true)
  end`;

/** The delivery of event `e` to webhook `webhookId` in the log, as `d`, and in the outbox, as `o`. */
export const deliveryOf = (event: string, webhookId: string) => `
  left join lateral (
    select shipper_id, delivery_id, status from deliveries
     where shipper_id = ${event}.shipper_id and delivery_id = delivery_id(${event}.event_id, ${webhookId}) limit 1) d on true
  left join lateral (
    select shipper_id, delivery_id, status, trigger, waits_turn, due_at from outbox
     where shipper_id = ${event}.shipper_id and delivery_id = delivery_id(${event}.event_id, ${webhookId}) limit 1) o on true`;

/** A request looks at no more events than this; a replay of more goes on nevertheless, and its total grows. */
const eventsCounted = 200_000;

/**
 * Records a replay and counts what it will send. Null without that webhook or, with a tracking id, without that
 * shipment; `tooMany` where the webhook has `limit` replays under way.
 */
export async function insertReplay(
  db: Database,
  replayId: string,
  range: ReplayRange,
  limit: number,
): Promise<{ total: number } | 'tooMany' | null> {
  const rows = await db.query<{ underWay: number; total: number | null }>(
    'insert-replay',
    `with target as (
       select w.webhook_id, w.shipper_id, w.interests, s.shipment_id, ${isCallable('w')} as callable,
              (select count(*)::int from replays r where r.webhook_id = w.webhook_id and r.status = 'RUNNING')
                as under_way
         from webhooks w
         left join shipments s on s.tracking_id = $7 and s.shipper_id = w.shipper_id
        where w.webhook_id = $2 and w.shipper_id = $3 and w.deleted_at is null
          and ($7::text is null or s.shipment_id is not null)
     ), counted as (
       select count(*)::int as total
         from target w
         join lateral (
           select shipper_id, event_id, state, erasure from events
            where shipper_id = w.shipper_id and shipment_id is not null
              and (w.shipment_id is null or shipment_id = w.shipment_id)
              and event_id >= uuid_floor($4) and event_id < uuid_floor($5)
            limit $9
         ) e on e.erasure is distinct from 'DONE' and (e.state = any(w.interests) or '*' = any(w.interests))
         ${deliveryOf('e', '$2')}
        where w.under_way < $8 and ${missed('$6')}
     ), added as (
       insert into replays (replay_id, webhook_id, shipper_id, shipment_id, delivery_status, last_event_id,
                            end_event_id, total)
       select $1, webhook_id, shipper_id, shipment_id, $6, uuid_floor($4), uuid_floor($5), total
         from target, counted where under_way < $8
       returning total
     )
     select under_way as "underWay", (select total from added) as total from target`,
    [
      replayId,
      range.webhookId,
      range.shipperId,
      range.from,
      new Date(range.to.getTime() + 1),
      range.deliveryStatus,
      range.trackingId,
      limit,
      eventsCounted,
    ],
  );
  const [row] = rows;
  if (!row) return null;
  return row.total === null ? 'tooMany' : { total: row.total };
}

export interface Replay {
  replayId: string;
  webhookId: string;
  total: number;
  done: number;
  status: 'RUNNING' | 'DONE' | 'CANCELLED';
}

const columns = `replay_id as "replayId", webhook_id as "webhookId", total, done, status`;

/** Replays under way and the newest of those that are over. */
export function listReplays(db: Database, limit: number): Promise<Replay[]> {
  return db.query<Replay>(
    'list-replays',
    `select ${columns} from replays order by status = 'RUNNING' desc, replay_id desc limit $1`,
    [limit],
  );
}

export async function findReplay(db: Database, replayId: string): Promise<Replay | null> {
  const rows = await db.query<Replay>('find-replay', `select ${columns} from replays where replay_id = $1`, [
    replayId,
  ]);
  return rows[0] ?? null;
}

/** Ends a replay; what it has set going already goes on. Null if it is over already, or there is none. */
export async function cancelReplay(db: Database, replayId: string): Promise<Replay | null> {
  const rows = await db.query<Replay>(
    'cancel-replay',
    `update replays set status = 'CANCELLED', finished_at = now()
      where replay_id = $1 and status = 'RUNNING' returning ${columns}`,
    [replayId],
  );
  return rows[0] ?? null;
}
