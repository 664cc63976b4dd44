import type { Database } from '../../platform/database/postgres.js';
import { eventsIn, lookedTo, owedBy, type ReplaySpan } from '../outbox/replay.js';
import { isParking, parkingKey, type ParkedPlace } from '../outbox/parked.js';
import { isCallable, isProbed, ms } from '../outbox/sql.js';

export interface ReplayInHand extends ReplaySpan {
  /** Deliveries it has set going so far. */
  done: number;
  setbacks: number;
  webhookDeleted: boolean;
  /** Whether its webhook is called now. */
  callable: boolean;
}

/** Whether a replay is due for its next piece, and whether something is left of a cancelled one. */
export async function whatReplaysNeed(db: Database): Promise<{ ripe: boolean; withdrawing: boolean }> {
  const [row] = await db.query<{ ripe: boolean; withdrawing: boolean }>(
    'what-replays-need',
    `select exists (select 1 from replays where status = 'RUNNING' and kind = 'ASKED' and next_at <= now()) as ripe,
            exists (select 1 from replays where withdrawing and next_at <= now()) as withdrawing`,
  );
  return row!;
}

/**
 * Takes the replay whose next piece has waited longest, for this transaction; another worker takes another one. Replays
 * of suspended shippers wait.
 */
export async function takeReplay(db: Database): Promise<ReplayInHand | null> {
  const rows = await db.query<ReplayInHand>(
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

/** Puts the next piece off; a replay that was cancelled meanwhile stays cancelled. */
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
 * Skips the next event and sets `setbacks`; the next piece begins after that event, following a pause. Returns the
 * event's id.
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

/** Saves how far a replay is; its next piece is due now. `walked`: it has found all its deliveries. */
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

/** Ends a replay whose webhook is deleted; its deliveries are cancelled with everything else the webhook is owed. */
export async function endWithWebhook(db: Database, replayId: string): Promise<void> {
  await db.query(
    'end-replay-with-webhook',
    `update replays set status = 'CANCELLED', finished_at = now() where replay_id = $1`,
    [replayId],
  );
}

/**
 * Ends replays that have found all their deliveries and have none left in the outbox. The others are checked again
 * later, less often the longer they last: a retry may take days.
 */
export async function finishSettled(
  db: Database,
  options: { pauseMs: number; limit: number },
): Promise<void> {
  await db.query(
    'finish-replays',
    `with looked as materialized (
       select r.replay_id, exists ${owedBy('r.replay_id')} as owed,
              (select deleted_at is not null from webhooks where webhook_id = r.webhook_id) as deleted
         from (select replay_id, webhook_id from replays
                where status = 'RUNNING' and kind = 'ASKED' and walked_at is not null and next_at <= now()
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

/**
 * Ends a replay that is under way; returns null if there is none or it is over. Waits for a piece that is being made.
 */
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

/** Whether a replay was cancelled so recently that an earlier claim may still start, or has something left. */
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

export interface CancelledReplay {
  replayId: string;
  webhookId: string;
}

/** Finds cancelled replays that may have something left, those checked longest ago first. */
export const findWithdrawing = (db: Database, limit: number): Promise<CancelledReplay[]> =>
  db.query<CancelledReplay>(
    'find-withdrawing',
    `select replay_id as "replayId", webhook_id as "webhookId" from replays
      where withdrawing and next_at <= now() order by next_at limit $1`,
    [limit],
  );

/** Takes a cancelled replay for this transaction. Returns false if nothing is left of it. */
export async function takeWithdrawing(tx: Database, replayId: string): Promise<boolean> {
  const rows = await tx.query(
    'take-withdrawing',
    `select 1 from replays where replay_id = $1 and withdrawing for no key update`,
    [replayId],
  );
  return rows.length > 0;
}

/** Subtracts what was taken back, and saves whether something is left. */
export async function saveWithdrawal(tx: Database, replayId: string, takenBack: number): Promise<void> {
  await tx.query(
    'save-withdrawal',
    `update replays set done = done - $2::int, withdrawing = exists ${owedBy('$1')}, next_at = now() where replay_id = $1`,
    [replayId, takenBack],
  );
}

/** A webhook that is parked. */
export type Unparking = Pick<ParkedInHand, 'replayId' | 'webhookId' | 'shipperId'>;

/** A parked webhook, and how far it has come. */
export interface ParkedInHand {
  replayId: string;
  webhookId: string;
  shipperId: string;
  place: ParkedPlace;
  /** How many deliveries were made so far. */
  done: number;
  setbacks: number;
  webhookDeleted: boolean;
  /** Whether the webhook is called now; if not, one row is needed to probe its circuit with. */
  callable: boolean;
  /** When the webhook was parked. */
  createdAt: Date;
}

/** Finds parked webhooks that are called again or deleted; those that have waited longest come first. */
export const findUnparking = (db: Database, limit: number): Promise<Unparking[]> =>
  db.query<Unparking>(
    'find-unparking',
    `select r.replay_id as "replayId", r.webhook_id as "webhookId", r.shipper_id as "shipperId" from replays r
      cross join lateral (select * from webhooks where webhook_id = r.webhook_id limit 1) w
      where ${isParking('r')} and r.next_at <= now() and (${isProbed('w')} or w.deleted_at is not null)
      order by r.next_at limit $1`,
    [limit],
  );

/**
 * Takes a parked webhook for this transaction; returns null if another worker has it or it is no longer parked. With
 * `update` nobody can record for the webhook's shipper meanwhile, and this call waits for those that already do. Either
 * side waits for at most a second a statement, even if this process dies. To be called with the lock on the webhook's
 * moves: whoever records must not wait for another piece of the webhook.
 */
export async function takeParked(
  tx: Database,
  { replayId, shipperId }: Unparking,
  lock: 'no key update' | 'update',
): Promise<ParkedInHand | null> {
  if (lock === 'update') {
    await tx.query(
      'bound-end',
      `select set_config(name, '1s', true) from unnest(array['statement_timeout', 'lock_timeout',
                                                             'idle_in_transaction_session_timeout']) name`,
    );
    await tx.query('lock-parking', `select pg_advisory_xact_lock(${parkingKey('$1')})`, [shipperId]);
  }
  const [row] = await tx.query<Omit<ParkedInHand, 'place'> & { position: string; eventId: string }>(
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

/** Saves how far a parked webhook has come; its next piece is due now. */
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

/** Ends the parking: events recorded from the commit on get rows again. */
export async function endUnparked(tx: Database, replayId: string): Promise<void> {
  await tx.query(
    'end-unparked',
    `update replays set status = 'DONE', total = done, walked_at = now(), finished_at = now() where replay_id = $1`,
    [replayId],
  );
}
