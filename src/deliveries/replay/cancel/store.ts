import type { Database } from '../../../platform/database/postgres.js';
import { insertIntoLog, ms, sameDelivery, takeOut } from '../../outbox/sql.js';

/** Ends a replay that is under way; null if there is none, or it is over. It waits for a piece of it that is being made. */
export async function endReplay(
  tx: Database,
  replayId: string,
  shipperId: string | null,
): Promise<{ webhookId: string; shipperId: string } | null> {
  const rows = await tx.query<{ webhookId: string; shipperId: string }>(
    'end-replay',
    `update replays set status = 'CANCELLED', finished_at = now(), withdrawing = true,
                        next_at = now()
      where replay_id = $1 and shipper_id = coalesce($2, shipper_id) and status = 'RUNNING'
     returning webhook_id as "webhookId", shipper_id as "shipperId"`,
    [replayId, shipperId],
  );
  return rows[0] ?? null;
}

/** Of a cancelled replay of which something may be left: whether some of that is not withdrawn yet. Else null. */
export async function findUnmarked(
  db: Database,
  replayId: string,
  shipperId: string | null,
): Promise<{ unmarked: boolean } | null> {
  const rows = await db.query<{ unmarked: boolean }>(
    'find-unmarked',
    `select exists (select 1 from outbox where replay_id = $1 and not withdrawn) as unmarked
       from replays where replay_id = $1 and shipper_id = coalesce($2, shipper_id) and withdrawing`,
    [replayId, shipperId],
  );
  return rows[0] ?? null;
}

/** Cancelled replays of which something may be left, those first that were looked at longest ago. */
export async function findWithdrawing(db: Database, limit: number): Promise<string[]> {
  const rows = await db.query<{ replay_id: string }>(
    'find-withdrawing',
    `select replay_id from replays where withdrawing and next_at <= now() order by next_at limit $1`,
    [limit],
  );
  return rows.map((row) => row.replay_id);
}

/** Takes a cancelled replay for this transaction; its webhook. Null if nothing is left of it. */
export async function takeWithdrawing(tx: Database, replayId: string): Promise<string | null> {
  const rows = await tx.query<{ webhook_id: string }>(
    'take-withdrawing',
    `select webhook_id from replays where replay_id = $1 and withdrawing for no key update`,
    [replayId],
  );
  return rows[0]?.webhook_id ?? null;
}

/**
 * Of what a cancelled replay has set going: what is owed because of it only is withdrawn, so that nobody claims it any
 * more; what was owed anyway is as it was before, its retry due when it was. A page at a time; what others have locked is
 * left out, for they lock in an order of their own. Returns how many it looked at, and the shipment of each that is the
 * replay's no more: its turn may have come while it was locked here, so ask for it after the commit.
 */
export async function withdrawPage(
  tx: Database,
  replayId: string,
  limit: number,
): Promise<{ looked: number; released: string[] }> {
  const [row] = await tx.query<{ looked: number; released: string[] }>(
    'withdraw-page',
    `with page as materialized (
       select shipper_id, delivery_id from outbox
        where replay_id = $1 and not withdrawn
        order by delivery_id limit $2 for no key update skip locked
     ), changed as (
       update outbox o
          set withdrawn = o.only_replayed,
              replay_id = case when o.only_replayed then o.replay_id end,
              trigger = case when o.only_replayed or o.status = 'SENDING' then o.trigger else 'SCHEDULED' end,
              -- Not due: a worker of an earlier version does not know that it is withdrawn.
              due_at = case when o.only_replayed and o.status <> 'SENDING' then null
                            when o.only_replayed or o.waits_turn then o.due_at
                            else coalesce(o.scheduled_at, o.due_at) end,
              scheduled_at = case when o.waits_turn and not o.only_replayed then o.scheduled_at end
         from page p where ${sameDelivery('o', 'p')}
       returning o.only_replayed, o.shipment_id
     )
     select count(*)::int as looked,
            coalesce(array_agg(shipment_id) filter (where not only_replayed), '{}') as released from changed`,
    [replayId, limit],
  );
  return row!;
}

/**
 * Takes what is withdrawn out of the outbox, but nothing that is being sent or was asked for by hand: into the log as
 * FAILED with its last attempt, or away if it never had one. To be called with the lock on the webhook's moves. Returns
 * the shipment of each.
 */
export async function removeWithdrawn(tx: Database, replayId: string, limit: number): Promise<string[]> {
  const rows = await tx.query<{ shipment_id: string }>(
    'remove-withdrawn',
    `with page as materialized (
       select o.shipper_id, o.delivery_id from outbox o
        where o.replay_id = $1 and o.withdrawn and o.status <> 'SENDING'
          and not exists (select 1 from redeliveries r where r.delivery_id = o.delivery_id)
        order by o.delivery_id limit $2 for update of o skip locked
     ), gone as (${takeOut('page')}), tried as materialized (
       select g.shipper_id, g.delivery_id, g.event_id, g.webhook_id, g.state, g.attempt_count, a.number, a.trigger,
              a.started_at, a.duration_ms, a.status_code, a.error_code, a.error_detail, a.response_body,
              a.request_headers
         from gone g left join lateral (
           select * from attempts where delivery_id = g.delivery_id and number = g.attempt_count limit 1) a on true
        where g.attempt_count > 0
     ), logged as (
       ${insertIntoLog(`select shipper_id, delivery_id, event_id, webhook_id, state, 'FAILED', null, attempt_count,
                               coalesce(started_at + ${ms('coalesce(duration_ms, 0)')}, now()), trigger, started_at,
                               duration_ms, status_code, error_code, error_detail, response_body,
                               request_headers from tried
                        on conflict do nothing returning delivery_id`)}
     ), moved as (
       delete from attempts a using tried t join logged using (delivery_id)
        where a.delivery_id = any(array[t.delivery_id]) and a.number = any(array[t.number])
     )
     select shipment_id from gone`,
    [replayId, limit],
  );
  return rows.map((row) => row.shipment_id);
}

/** Counts what was taken back, and notes whether something is left; whether some of that is not withdrawn yet. */
export async function saveWithdrawal(
  tx: Database,
  replayId: string,
  takenBack: number,
): Promise<{ unmarked: boolean }> {
  const [row] = await tx.query<{ unmarked: boolean }>(
    'save-withdrawal',
    `update replays
        set done = done - $2::int, withdrawing = exists (select 1 from outbox where replay_id = $1), next_at = now()
      where replay_id = $1
     returning exists (select 1 from outbox where replay_id = $1 and not withdrawn) as unmarked`,
    [replayId, takenBack],
  );
  return row!;
}
