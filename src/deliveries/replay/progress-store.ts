import { isoOffset } from '../../http/envelope.js';
import { timeOfId } from '../../platform/ids.js';
import type { Database } from '../../platform/database/postgres.js';
import { owedBy } from '../outbox/replay.js';

/** A replay and how far it has come. */
export interface Replay {
  replayId: string;
  webhookId: string;
  status: 'RUNNING' | 'DONE' | 'CANCELLED';
  /** Deliveries of it that are settled. */
  done: number;
  /** Null until all were found. */
  total: number | null;
  /** Null of one that an earlier version was asked for. */
  from: Date | null;
  to: Date | null;
  lastEventId: string;
  endEventId: string;
  deliveryStatus: string | null;
  trackingId: string | null;
  createdAt: Date;
  finishedAt: Date | null;
}

/** What it has set going and the outbox does not hold under its id any more is settled. */
const columns = `r.replay_id as "replayId", r.webhook_id as "webhookId", r.status,
  r.done - case when r.status = 'RUNNING' or r.withdrawing
                then (select count(*)::int from ${owedBy('r.replay_id')} o) else 0 end as done,
  r.total, r.from_at as "from", r.to_at as "to", r.last_event_id as "lastEventId", r.end_event_id as "endEventId",
  r.delivery_status as "deliveryStatus", r.created_at as "createdAt", r.finished_at as "finishedAt",
  (select tracking_id from shipments where shipment_id = r.shipment_id) as "trackingId"`;

/** Replays under way and the newest of those that are over, of everybody. */
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

/** A page of a webhook's replays, newest first. */
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

/** Null where there is none, or it is not the shipper's who asks. */
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

/** A replay as answers show it. */
export const replayView = ({ lastEventId, endEventId, ...replay }: Replay) => ({
  ...replay,
  from: isoOffset(replay.from ?? new Date(timeOfId(lastEventId))),
  to: isoOffset(replay.to ?? new Date(timeOfId(endEventId) - 1)),
  createdAt: isoOffset(replay.createdAt),
  finishedAt: isoOffset(replay.finishedAt),
});
