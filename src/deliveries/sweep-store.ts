import type { Database } from '../platform/postgres.js';
import type { DueDelivery } from './enqueue.js';
import { bounds } from './bounds.js';

/** Where a page of findDue ended. */
export interface DueCursor {
  sweepAt: string;
  deliveryId: string;
}

/** Attempts that are due and that nobody has claimed, the longest waiting first, page by page. */
export function findDue(
  db: Database,
  graceMs: number,
  after: DueCursor | null,
  limit: number,
): Promise<(DueDelivery & DueCursor)[]> {
  return db.query<DueDelivery & DueCursor>(
    'find-due',
    `select delivery_id as "deliveryId", webhook_id as "webhookId", sweep_at::text as "sweepAt" from deliveries
      where status = 'PENDING' and sweep_at <= now() + make_interval(secs => $1::float8 / 1000)
        and due_at <= now() and not claimed
        and (sweep_at, delivery_id) > (coalesce($2::timestamptz, '-infinity'), coalesce($3::uuid, uuid_floor('epoch')))
      order by sweep_at, delivery_id limit $4`,
    [graceMs, after?.sweepAt ?? null, after?.deliveryId ?? null, limit],
  );
}

/** The oldest deliveries of one webhook that are due and that nobody has claimed. */
export function findDueOf(db: Database, webhookId: string, limit: number): Promise<DueDelivery[]> {
  return db.query<DueDelivery>(
    'find-due-of',
    `select delivery_id as "deliveryId", webhook_id as "webhookId" from deliveries
      where webhook_id = $1 and completed_at is null and status = 'PENDING'
        and due_at <= now() and not claimed
      order by delivery_id limit $2`,
    [webhookId, limit],
  );
}

/** Has the sweeper leave deliveries alone for a while that somebody will come back for; 0 ms: take them up next. */
export async function deferSweep(db: Database, due: DueDelivery[], forMs: number): Promise<void> {
  const ids = due.map(({ deliveryId }) => deliveryId);
  await db.query(
    'defer-sweep',
    `update deliveries set sweep_at = now() + make_interval(secs => $2::float8 / 1000)
      where delivery_id = any($1::uuid[]) and delivery_id between $3 and $4
        and status = 'PENDING' and not claimed`,
    [ids, forMs, ...bounds(ids)],
  );
}

/**
 * Takes up claims whose lease has run out; their attempts are logged without an outcome. They are left alone for
 * `quietMs` then.
 */
export function takeLapsed(
  db: Database,
  options: { leaseMs: number; quietMs: number; limit: number },
): Promise<DueDelivery[]> {
  return db.query<DueDelivery>(
    'take-lapsed',
    `with lapsed as (
       select delivery_id, attempt_count, trigger, sweep_at from deliveries
        where sweep_at <= now() and claimed
        order by sweep_at limit $1
          for update skip locked
     ), lost as (
       insert into attempts (delivery_id, number, trigger, started_at)
       select delivery_id, attempt_count, trigger, sweep_at - make_interval(secs => $3::float8 / 1000)
         from lapsed
       on conflict do nothing
     )
     update deliveries d
        set claimed = false, status = 'PENDING', due_at = coalesce(d.due_at, now()),
            sweep_at = now() + make_interval(secs => $2::float8 / 1000)
       from lapsed l
      where d.delivery_id = l.delivery_id
     returning d.delivery_id as "deliveryId", d.webhook_id as "webhookId"`,
    [options.limit, options.quietMs, options.leaseMs],
  );
}

/** Takes up what no job came for and what waits its turn. It is left alone for `quietMs` then. */
export function takeForgotten(
  db: Database,
  options: { quietMs: number; limit: number },
): Promise<DueDelivery[]> {
  return db.query<DueDelivery>(
    'take-forgotten',
    `update deliveries d
        set status = 'PENDING', due_at = coalesce(d.due_at, now()),
            sweep_at = now() + make_interval(secs => $2::float8 / 1000)
       from (
         select delivery_id from deliveries
          where sweep_at <= now() and not claimed
          order by sweep_at limit $1
            for update skip locked) f
      where d.delivery_id = f.delivery_id
     returning d.delivery_id as "deliveryId", d.webhook_id as "webhookId"`,
    [options.limit, options.quietMs],
  );
}

/**
 * Whether something is left of a webhook's backlog: nothing to release while it is not called, nor while its circuit is
 * open. `open` says which deliveries of a deleted one count.
 */
const hasBacklog = (open: string) => `case w.backlog
  when 'CANCEL' then exists (select 1 from deliveries d where d.webhook_id = w.webhook_id and ${open})
  else w.status = 'ACTIVE' and w.deleted_at is null
   and not exists (select 1 from circuits c where c.webhook_id = w.webhook_id and c.open_until is not null)
   and exists (select 1 from deliveries d
                where d.webhook_id = w.webhook_id and d.completed_at is null and d.status = 'HELD'
                  and d.sweep_at is null and not d.claimed) end`;

/** Marks looked at in one sweep: the cost of a sweep is bounded, however many webhooks were deleted at once. */
const marksAtOnce = 500;

/** Webhooks of whose backlog something can be released or cancelled now; those that wait to be sent to come first. */
export function findBacklogs(db: Database): Promise<{ webhookId: string; backlog: 'RELEASE' | 'CANCEL' }[]> {
  return db.query(
    'find-backlogs',
    `select webhook_id as "webhookId", backlog
       from (select * from webhooks where backlog is not null
              order by backlog = 'CANCEL', updated_at limit ${marksAtOnce}) w
      where ${hasBacklog('d.completed_at is null and not d.claimed')} limit 100`,
  );
}

/**
 * Takes the marks off webhooks whose backlog is worked off; an attempt under way is part of it, for it may fail yet. A
 * mark stays for a while after the webhook's change, because a fan-out that began before may still commit behind it.
 * Waits for nobody: a row that is locked is left for later.
 */
export async function clearBacklogMarks(db: Database, lingerMs: number): Promise<void> {
  await db.query(
    'clear-backlog-marks',
    `with w as materialized (
       select * from webhooks
        where backlog is not null and updated_at < now() - make_interval(secs => $1::float8 / 1000)
        order by updated_at limit ${marksAtOnce} for no key update skip locked
     )
     update webhooks set backlog = null
      where webhook_id in (select webhook_id from w where not (${hasBacklog('d.completed_at is null')}))`,
    [lingerMs],
  );
}

/** Makes the oldest held deliveries of an active webhook due now. */
export function releaseHeld(
  db: Database,
  webhookId: string,
  limit: number,
  quietMs: number,
): Promise<DueDelivery[]> {
  return db.query<DueDelivery>(
    'release-held',
    `update deliveries d
        set status = 'PENDING', due_at = now(), sweep_at = now() + make_interval(secs => $3::float8 / 1000)
      where delivery_id in (
        select delivery_id from deliveries
         where webhook_id = $1 and completed_at is null and status = 'HELD' and sweep_at is null and not claimed
         order by delivery_id limit $2 for update skip locked)
        and exists (select 1 from webhooks w
                     where w.webhook_id = $1 and w.status = 'ACTIVE' and w.deleted_at is null)
        and not exists (select 1 from circuits c where c.webhook_id = $1 and c.open_until is not null)
     returning d.delivery_id as "deliveryId", d.webhook_id as "webhookId"`,
    [webhookId, limit, quietMs],
  );
}

/** Cancels open deliveries of a deleted webhook, but not those being sent. */
export async function cancelOpen(db: Database, webhookId: string, limit: number): Promise<void> {
  await db.query(
    'cancel-open',
    `update deliveries d
        set status = 'CANCELLED', reason = 'WEBHOOK_DELETED', completed_at = now(), due_at = null, sweep_at = null
      where delivery_id in (
        select delivery_id from deliveries
         where webhook_id = $1 and completed_at is null and not claimed
         limit $2 for update skip locked)`,
    [webhookId, limit],
  );
}

/** Whether an attempt of this webhook is under way or may be being claimed. */
export async function mayBeSending(db: Database, webhookId: string): Promise<boolean> {
  const rows = await db.query(
    'may-be-sending',
    `select 1 from deliveries
      where webhook_id = $1 and completed_at is null and (status = 'PENDING' or claimed)
     union all
     select 1 from deliveries where webhook_id = $1 and manual_requested_at is not null
      limit 1`,
    [webhookId],
  );
  return rows.length > 0;
}
