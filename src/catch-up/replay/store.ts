import type { Database } from '../../platform/database/postgres.js';
import { eventsIn, passedTo, owedBy, type ReplaySpan } from './piece-store.js';
import { type ParkedPlace } from './parked-store.js';
import { isCallable, isParking, isProbed, ms, parkingKey } from '../../engine/engine.js';

export interface TakenReplay extends ReplaySpan {
  done: number;
  setbacks: number;
  webhookDeleted: boolean;
  callable: boolean;
}

export async function findReplayWork(db: Database): Promise<{ due: boolean; withdrawing: boolean }> {
  const [row] = await db.query<{ due: boolean; withdrawing: boolean }>(
    'find-replay-work',
    `select exists (select 1 from replays where status = 'RUNNING' and kind = 'ASKED' and next_at <= now()) as due,
            exists (select 1 from replays where withdrawing and next_at <= now()) as withdrawing`,
  );
  return row!;
}

/** Other workers take other replays. Those of suspended shippers wait. */
export async function takeReplay(db: Database): Promise<TakenReplay | null> {
  const rows = await db.query<TakenReplay>(
    'take-replay',
    `select r.replay_id as "replayId", r.webhook_id as "webhookId", r.shipper_id as "shipperId",
            r.shipment_id as "shipmentId", r.delivery_status as "deliveryStatus",
            r.last_event_id as "lastEventId", r.end_event_id as "endEventId", r.done, r.setbacks,
            w.deleted_at is not null as "webhookDeleted", ${isCallable('w')} as callable
       from replays r join webhooks w using (webhook_id)
      where r.status = 'RUNNING' and r.kind = 'ASKED' and r.walked_at is null and r.next_at <= now()
        and (not w.suspended or w.deleted_at is not null)
      order by r.next_at limit 1 for update of r skip locked`,
  );
  return rows[0] ?? null;
}

/** A replay cancelled meanwhile stays cancelled. */
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

export async function skipEvent(
  db: Database,
  replay: TakenReplay,
  options: { setbacks: number; pauseMs: number; retentionMs: number },
): Promise<string | null> {
  const [next] = await db.query<{ event_id: string }>(
    'next-event-of-replay',
    `select event_id from (${eventsIn(`event_id > ${passedTo('$3', '$5')} and event_id < $4`, {
      shipperId: '$1',
      shipmentId: '$2',
      limit: '1',
    })}) e`,
    [replay.shipperId, replay.shipmentId, replay.lastEventId, replay.endEventId, options.retentionMs],
  );
  await db.query(
    'skip-event',
    `update replays set last_event_id = coalesce($3, last_event_id), setbacks = $4, next_at = now() + ${ms('$5')}
      where replay_id = $1 and last_event_id = $2`,
    [replay.replayId, replay.lastEventId, next?.event_id ?? null, options.setbacks, options.pauseMs],
  );
  return next?.event_id ?? null;
}

/** Makes the replay's next piece due now. `walked`: all its deliveries are found. */
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

export async function endWithDeletedWebhook(db: Database, replayId: string): Promise<void> {
  await db.query(
    'end-replay-with-webhook',
    `update replays set status = 'CANCELLED', finished_at = now() where replay_id = $1`,
    [replayId],
  );
}

/**
 * Ends replays without deliveries in the outbox. The others are checked again, ever less often: a retry may take days.
 */
export async function finishSettledReplays(
  db: Database,
  options: { pauseMs: number; limit: number },
): Promise<void> {
  await db.query(
    'finish-replays',
    `with checked as materialized (
       select r.replay_id, exists ${owedBy('r.replay_id')} as owed,
              (select deleted_at is not null from webhooks where webhook_id = r.webhook_id) as deleted
         from (select replay_id, webhook_id from replays
                where status = 'RUNNING' and kind = 'ASKED' and walked_at is not null and next_at <= now()
                order by next_at limit $2 for no key update skip locked) r
     )
     update replays r
        set status = case when c.owed then 'RUNNING' when c.deleted then 'CANCELLED' else 'DONE' end,
            finished_at = case when not c.owed then now() end,
            next_at = now() + least(interval '30 s', greatest(${ms('$1')}, (now() - r.walked_at) / 20))
       from checked c where r.replay_id = any(array[c.replay_id])`,
    [options.pauseMs, options.limit],
  );
}

export interface CancelledReplay {
  replayId: string;
  webhookId: string;
}

export const findWithdrawing = (db: Database, limit: number): Promise<CancelledReplay[]> =>
  db.query<CancelledReplay>(
    'find-withdrawing',
    `select replay_id as "replayId", webhook_id as "webhookId" from replays
      where withdrawing and next_at <= now() order by next_at limit $1`,
    [limit],
  );

export async function takeWithdrawing(tx: Database, replayId: string): Promise<boolean> {
  const rows = await tx.query(
    'take-withdrawing',
    `select 1 from replays where replay_id = $1 and withdrawing for no key update`,
    [replayId],
  );
  return rows.length > 0;
}

export async function saveWithdrawal(tx: Database, replayId: string, withdrawn: number): Promise<void> {
  await tx.query(
    'save-withdrawal',
    `update replays set done = done - $2::int, withdrawing = exists ${owedBy('$1')}, next_at = now() where replay_id = $1`,
    [replayId, withdrawn],
  );
}

export type ParkedWebhook = Pick<TakenParking, 'replayId' | 'webhookId' | 'shipperId'>;

export interface TakenParking {
  replayId: string;
  webhookId: string;
  shipperId: string;
  place: ParkedPlace;
  done: number;
  setbacks: number;
  webhookDeleted: boolean;
  /** If the webhook is not callable, its circuit needs one delivery to probe with. */
  callable: boolean;
  createdAt: Date;
}

/** Parked webhooks that are called again or deleted; those that have waited longest come first. */
export const findUnparkable = (db: Database, limit: number): Promise<ParkedWebhook[]> =>
  db.query<ParkedWebhook>(
    'find-unparkable',
    `select r.replay_id as "replayId", r.webhook_id as "webhookId", r.shipper_id as "shipperId" from replays r
      cross join lateral (select * from webhooks where webhook_id = r.webhook_id limit 1) w
      where ${isParking('r')} and r.next_at <= now() and (${isProbed('w')} or w.deleted_at is not null)
      order by r.next_at limit $1`,
    [limit],
  );

/**
 * Locks a parked webhook; null if another worker has it or it is no longer parked. With `update`, recording for the
 * webhook's shipper waits for this transaction, and this call waits for transactions that already record. Each side
 * waits at most a second per statement, even if this process dies. Call it with the lock on the webhook's moves, so that
 * recording never waits for another piece of the webhook.
 */
export async function takeParked(
  tx: Database,
  { replayId, shipperId }: ParkedWebhook,
  lock: 'no key update' | 'update',
): Promise<TakenParking | null> {
  if (lock === 'update') {
    await tx.query(
      'limit-waits',
      `select set_config(name, '1s', true) from unnest(array['statement_timeout', 'lock_timeout',
                                                             'idle_in_transaction_session_timeout']) name`,
    );
    await tx.query('lock-parking', `select pg_advisory_xact_lock(${parkingKey('$1')})`, [shipperId]);
  }
  const [row] = await tx.query<Omit<TakenParking, 'place'> & { position: string; eventId: string }>(
    lock === 'update' ? 'take-parked-to-end' : 'take-parked',
    `select r.replay_id as "replayId", r.webhook_id as "webhookId", r.shipper_id as "shipperId",
            r.last_position as position, r.last_event_id as "eventId", r.done, r.setbacks,
            w.deleted_at is not null as "webhookDeleted", ${isCallable('w')} as callable, r.created_at as "createdAt"
       from replays r join webhooks w using (webhook_id)
      where r.replay_id = $1 and ${isParking('r')} for ${lock} of r ${lock === 'update' ? '' : 'skip locked'}`,
    [replayId],
  );
  if (!row) return null;
  const { position, eventId, ...replay } = row;
  return { ...replay, place: { position, eventId } };
}

/** Makes the next piece of the parked webhook due now. */
export async function saveUnparked(
  tx: Database,
  replayId: string,
  { reached, shipmentIds }: { reached: ParkedPlace | null; shipmentIds: string[] },
): Promise<void> {
  await tx.query(
    'save-unparked',
    `update replays
        set last_position = coalesce($2, last_position), last_event_id = coalesce($3, last_event_id), done = done + $4,
            setbacks = greatest(setbacks - 1, 0), next_at = now()
      where replay_id = $1`,
    [replayId, reached?.position ?? null, reached?.eventId ?? null, shipmentIds.length],
  );
}

/** Events recorded after the commit get deliveries again. */
export async function endUnparked(tx: Database, replayId: string): Promise<void> {
  await tx.query(
    'end-unparked',
    `update replays set status = 'DONE', total = done, walked_at = now(), finished_at = now() where replay_id = $1`,
    [replayId],
  );
}
