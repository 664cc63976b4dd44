import type { Database, Queries } from '../../platform/database/postgres.js';
import { rowSet } from '../../platform/database/parameters.js';
import {
  unclaimed,
  unclaimedStatus,
  claimColumns,
  claimed,
  insertAttempts,
  insertCounts,
  insertIntoLog,
  lostOutcome,
  isActive,
  isTroubled,
  isWithdrawn,
  ms,
  ofRecentEvent,
  outcome,
  outcomeColumns,
  recentMonths,
  sameDelivery,
} from './sql.js';
import {
  inLockOrder,
  keyRows,
  type Claim,
  type DueClaim,
  type RowKey,
  type Settlement,
  type Turn,
} from './types.js';

/** Nothing earlier than `since` is due; null if that is unknown. */
export interface Wanted {
  webhookId: string;
  room: number;
  since: Date | null;
}

const wantedRows = rowSet<Wanted>({
  webhook_id: ['uuid', ({ webhookId }) => webhookId],
  room: ['int', ({ room }) => room],
  since: ['timestamptz', ({ since }) => since],
});

/**
 * The webhook was not called for a time after its delivery could go. A resume deletes the circuit, so a circuit that has
 * counted since before `called_since` has closed by itself.
 */
const wasStopped = `o.called_since > case o.attempt_count when 1 then least(o.due_at, e.recorded_at) else o.due_at end`;

/** The longest due first. Skips locked rows, cancelled replays, and webhooks not active or with an open circuit. */
export function pullDue(db: Database, wanted: Wanted[], leaseMs: number): Promise<DueClaim[]> {
  const months = recentMonths(Date.now());
  return db.query<DueClaim>(
    `pull-due@${months.name}`,
    `with picked as materialized (
       select o.shipper_id, o.delivery_id, w.revision, w.ordering, w.supersede, w.called_since, w.stopped_at, c.window_started_at,
              ${isTroubled('c')} as troubled
         from ${wantedRows.as('t')}
        cross join lateral (
          select revision, ordering, supersede, called_since, stopped_at from webhooks
           where webhook_id = t.webhook_id and ${isActive('webhooks')} limit 1) w
         left join lateral (
           select open_until, failing_since, window_started_at from circuits where webhook_id = t.webhook_id limit 1) c on true
        cross join lateral (
          select shipper_id, delivery_id from outbox
           where webhook_id = t.webhook_id and due_at <= now() and due_at >= coalesce(t.since, '-infinity')
             and status <> 'SENDING' and not ${isWithdrawn('outbox')}
           order by due_at limit t.room for no key update skip locked) o
        where c.open_until is null
     ), o as (
       update outbox o set ${claimed('$4')}
         from picked p where ${sameDelivery('o', 'p')}
       returning o.*, p.revision, p.ordering, p.supersede, p.called_since, p.stopped_at, p.window_started_at, p.troubled
     )
     select ${claimColumns}, o.due_at as "dueAt", false as "isProbe",
            greatest(0, extract(epoch from now() - greatest(o.due_at, o.called_since)) * 1000)::float8 as "sendableForMs",
            case when ${wasStopped} then o.called_since end as "calledAt",
            case when ${wasStopped} then
              case when o.window_started_at <= o.called_since and (o.stopped_at < o.due_at) is not false then 'circuit' else 'paused' end end as "stoppedBy"
       from o ${ofRecentEvent(months)}`,
    [...wantedRows.arrays(wanted), leaseMs],
  );
}

const probesAtOnce = 500;

/**
 * Claims a probe for each open circuit whose wait is over, the earliest end first, and whose webhook has something due:
 * others may owe nothing for hours. The probe is the least attempted of the deliveries that have been due longest: a
 * receiver that is back may still refuse one of them for ever.
 */
export function claimProbes(db: Database, leaseMs: number, probeMs: number): Promise<DueClaim[]> {
  const months = recentMonths(Date.now());
  return db.query<DueClaim>(
    `claim-probes@${months.name}`,
    `with ripe as materialized (
       select c.webhook_id from circuits c join webhooks w using (webhook_id)
        cross join lateral (
          select 1 from outbox where webhook_id = c.webhook_id and due_at <= now() and status <> 'SENDING' limit 1) due
        where c.open_until <= now() and (c.probe_until is null or c.probe_until < now())
          and ${isActive('w')}
        order by c.open_until limit ${probesAtOnce} for update of c skip locked
     ), picked as materialized (
       select o.shipper_id, o.delivery_id, o.webhook_id, w.revision, w.ordering, w.supersede, true as troubled
         from ripe
        cross join lateral (select * from webhooks where webhook_id = ripe.webhook_id limit 1) w
        cross join lateral (
          select shipper_id, delivery_id from (
            select shipper_id, delivery_id, attempt_count, due_at from outbox
             where webhook_id = ripe.webhook_id and due_at <= now() and status <> 'SENDING' and not ${isWithdrawn('outbox')}
             order by due_at limit 50) longest_due
           order by attempt_count, due_at limit 1) least_tried
        cross join lateral (
          select shipper_id, delivery_id, webhook_id from outbox
           where shipper_id = least_tried.shipper_id and delivery_id = least_tried.delivery_id
             and due_at <= now() and status <> 'SENDING' and not ${isWithdrawn('outbox')}
           limit 1 for no key update skip locked) o
     ), probing as (
       update circuits set probe_until = now() + ${ms('$2')}
        where webhook_id = any(array(select webhook_id from picked))
     ), o as (
       update outbox o set ${claimed('$1')}
         from picked p where ${sameDelivery('o', 'p')}
       returning o.*, p.revision, p.ordering, p.supersede, p.troubled
     )
     select ${claimColumns}, o.due_at as "dueAt", true as "isProbe", 0 as "sendableForMs",
            now() as "calledAt", 'circuit' as "stoppedBy"
       from o ${ofRecentEvent(months)}`,
    [leaseMs, probeMs],
  );
}

const attempts = rowSet<Claim>({
  shipper_id: ['uuid', ({ shipperId }) => shipperId],
  delivery_id: ['uuid', ({ deliveryId }) => deliveryId],
  number: ['int', ({ number }) => number],
});

/** Locks the rows; locked ones are skipped. */
const claimedRows = `select o.shipper_id, o.delivery_id
  from ${attempts.as('t')}
 cross join lateral (
   select shipper_id, delivery_id from outbox
    where shipper_id = t.shipper_id and delivery_id = t.delivery_id and status = 'SENDING' and attempt_count = t.number
    limit 1 for no key update skip locked) o`;

/** The attempts do not count. Returns claims not given back: the row was locked (`renewLeases`), or they have ended. */
export async function giveBack<Some extends Claim>(db: Database, claims: Some[]): Promise<Some[]> {
  const rows = await db.query<{ deliveryId: string }>(
    'give-back',
    `with held as materialized (${claimedRows})
     update outbox o set ${unclaimed}, attempt_count = o.attempt_count - 1
       from held where ${sameDelivery('o', 'held')}
     returning o.delivery_id as "deliveryId"`,
    attempts.arrays(claims),
  );
  const given = new Set(rows.map(({ deliveryId }) => deliveryId));
  return claims.filter(({ deliveryId }) => !given.has(deliveryId));
}

/** Another probe may be claimed at once. */
export async function endProbes(db: Database, webhookIds: string[]): Promise<void> {
  await db.query('end-probes', `update circuits set probe_until = null where webhook_id = any($1::uuid[])`, [
    webhookIds,
  ]);
}

/** While an attempt waits for its place or lasts, no other probe of its webhook is claimed. */
export async function renewProbes(db: Database, webhookIds: string[], leaseMs: number): Promise<void> {
  await db.query(
    'renew-probes',
    `with held as materialized (
       select webhook_id from circuits
        where webhook_id = any($1::uuid[]) and probe_until is not null order by webhook_id for update skip locked
     )
     update circuits set probe_until = greatest(probe_until, now() + ${ms('$2')})
      where webhook_id = any(array(select webhook_id from held))`,
    [webhookIds, leaseMs],
  );
}

export async function renewLeases(db: Database, claims: Claim[], leaseMs: number): Promise<void> {
  await db.query(
    'renew-leases',
    `with held as materialized (${claimedRows})
     update outbox o set lease_until = now() + ${ms('$4')} from held where ${sameDelivery('o', 'held')}`,
    [...attempts.arrays(claims), leaseMs],
  );
}

/**
 * Attempts enter the log as `LOST`, started when their lease was last renewed. A test fails; every other delivery is
 * due again. Redeliveries are left to `takeLapsedRedeliveries`. Returns the webhooks, turns and number of the deliveries
 * that are due again.
 */
export async function takeLapsed(
  db: Database,
  keys: RowKey[],
  options: { leaseMs: number; testLeaseMs: number },
): Promise<{ webhookIds: string[]; turns: Turn[]; count: number }> {
  const rows = await db.query<{ webhookId: string; shipmentId: string | null }>(
    'take-lapsed',
    `with lapsed as materialized (
       select o.*, o.lease_until - case o.trigger when 'TEST' then ${ms('$4')} else ${ms('$3')} end as began_at
         from ${keyRows.as('p')} cross join lateral (
         select * from outbox o
          where o.shipper_id = p.shipper_id and o.delivery_id = p.delivery_id
            and o.status = 'SENDING' and o.lease_until <= now()
            and not exists (select 1 from redeliveries r where r.delivery_id = o.delivery_id and r.lease_until is not null)
          limit 1 for update skip locked) o
     ), over as (
       delete from outbox o using lapsed l where l.trigger = 'TEST' and ${sameDelivery('o', 'l')}
       returning o.*, l.began_at
     ), logged as (
       ${insertIntoLog(`select shipper_id, delivery_id, event_id, webhook_id, state, 'FAILED', null, attempt_count, now(),
                               trigger, began_at, ${lostOutcome} from over`)}
       on conflict do nothing -- a test is sent once: what the log already has of it stays
     ), lost as (
       ${insertAttempts(`select shipper_id, delivery_id, attempt_count, trigger, began_at, ${lostOutcome}
                           from lapsed where trigger <> 'TEST'`)}
     ), counted as (
       ${insertCounts(`select webhook_id, began_at as started_at, trigger, false as succeeded,
                              null::int as duration_ms from lapsed`)}
     )
     update outbox o set ${unclaimed}, due_at = coalesce(o.due_at, now())
       from lapsed l where l.trigger <> 'TEST' and ${sameDelivery('o', 'l')}
     returning o.webhook_id as "webhookId", o.shipment_id as "shipmentId"`,
    [...keyRows.arrays(inLockOrder(keys)), options.leaseMs, options.testLeaseMs],
  );
  return {
    webhookIds: [...new Set(rows.map(({ webhookId }) => webhookId))],
    turns: rows.flatMap(({ webhookId, shipmentId }) =>
      shipmentId === null ? [] : [{ webhookId, shipmentId }],
    ),
    count: rows.length,
  };
}

/**
 * Joins to claim `t` (shipper_id, delivery_id, number). `is_ours`: the claim still owns the row for at least
 * `leaseLeftMs`, and its replay is not cancelled. No row if the delivery is no longer in the outbox.
 */
export const ownClaim = (t: string, leaseLeftMs: string) => `
  select not ${isWithdrawn('outbox')} and status = 'SENDING' and attempt_count = ${t}.number
         and lease_until > now() + ${ms(leaseLeftMs)} as is_ours from outbox
   where shipper_id = ${t}.shipper_id and delivery_id = ${t}.delivery_id limit 1`;

/**
 * An outcome counts for its own claim only. It still counts if PostgreSQL lost the claim in a crash and no process has
 * claimed the row since.
 */
const isItsAttempt = `(o.status = 'SENDING' and o.attempt_count = i.number
  or o.status <> 'SENDING' and o.attempt_count = i.number - 1)`;

/** `result` is the status, or REFUSED, which is FAILED for that reason. */
const settlementRows = rowSet<Settlement>({
  shipper_id: ['uuid', ({ shipperId }) => shipperId],
  delivery_id: ['uuid', ({ deliveryId }) => deliveryId],
  number: ['int', ({ number }) => number],
  result: ['text', ({ status, reason }) => reason ?? status],
  delay_ms: ['float8', ({ delayMs }) => delayMs],
  trigger: ['text', ({ trigger }) => trigger],
  started_at: ['timestamptz', ({ startedAt }) => startedAt],
  ...outcome,
});

const settleText = ({
  onConflict,
  logged,
  ends = '',
}: {
  onConflict: string;
  logged: string;
  ends?: string;
}) => `
  with i as materialized (
    select * from ${settlementRows.as('t')}
  ), ended as (
    delete from outbox o using i
     where i.result in ('SUCCEEDED', 'FAILED', 'REFUSED') and ${sameDelivery('o', 'i')} and ${isItsAttempt}
    returning o.event_id, o.webhook_id, o.state, ${ends && 'o.shipment_id, '}i.*
  ), logged as (
    ${insertIntoLog(`select shipper_id, delivery_id, event_id, webhook_id, state,
                            case result when 'REFUSED' then 'FAILED' else result end,
                            case result when 'REFUSED' then result end, number, now(),
                            trigger, started_at, ${outcomeColumns} from ended ${onConflict}`)}
  ), again as (
    update outbox o
       set status = case i.result when 'RETRY' then 'RETRY' else ${unclaimedStatus('o')} end,
           due_at = case i.result when 'RETRY' then now() + ${ms('i.delay_ms')} else coalesce(o.due_at, now()) end,
           scheduled_at = case when i.result <> 'RETRY' then o.scheduled_at end,
           retry_wait = case i.result when 'RETRY' then ${ms('i.delay_ms')} else o.retry_wait end,
           attempt_count = i.number, lease_until = null,
           trigger = case when i.result = 'UNCHANGED' and o.replay_id is not null then o.trigger else 'SCHEDULED' end,
           failure_count = o.failure_count + (i.result = 'RETRY' and i.trigger = 'SCHEDULED')::int,
           first_failed_at = case i.result when 'RETRY' then coalesce(o.first_failed_at, now())
                                           else o.first_failed_at end
      from i
     where i.result in ('RETRY', 'UNCHANGED') and ${sameDelivery('o', 'i')} and ${isItsAttempt}
    returning o.webhook_id, o.due_at, i.*
  ), kept as (
    ${insertAttempts(`select shipper_id, delivery_id, number, trigger, started_at, ${outcomeColumns} from again`)}
  ), counted as (
    ${insertCounts(`select webhook_id, started_at, trigger, result = 'SUCCEEDED' as succeeded, duration_ms from ${logged}
                    union all
                    select webhook_id, started_at, trigger, false, duration_ms from again`)}
  )${ends}
  select delivery_id as "deliveryId", number, null::timestamptz as "dueAt" from ended
  union all select delivery_id, number, due_at from again`;

const settling = { name: 'settle', text: settleText({ onConflict: '', logged: 'ended' }) };
/** Notes the deliveries whose retries are used up; a test or a notice has no shipment. */
const ends = `, exhausted as (
    insert into exhausted_deliveries (webhook_id, delivery_id, shipment_id)
    select webhook_id, delivery_id, shipment_id from ended
     where result = 'FAILED' and shipment_id is not null on conflict do nothing
  )`;
const settlingExhausted = {
  name: 'settle-exhausted',
  text: settleText({ onConflict: '', logged: 'ended', ends }),
};
const settlingOnceMore = {
  name: 'settle-once-more',
  text: settleText({
    onConflict: 'on conflict do nothing returning delivery_id',
    logged: 'ended join logged using (delivery_id)',
    ends,
  }),
};

/** `dueAt`: when its delivery is due again; null if it is finished. */
export interface Settled {
  number: number;
  dueAt: Date | null;
}

/**
 * A finished delivery moves into the log with its last attempt. A delivery that is retried stays, and its attempt is
 * stored beside it. An outcome whose claim was lost meanwhile is refused (fencing). Returns the accepted attempts by
 * deliveryId.
 */
export const settle = (db: Queries, settlements: Settlement[]): Promise<Map<string, Settled>> =>
  settleBy(db, settlements.some(isExhausted) ? settlingExhausted : settling, settlements);

const isExhausted = ({ status, reason }: Settlement) => status === 'FAILED' && reason === null;

/** Like `settle`, but a delivery that is already in the log is only removed from the outbox. */
export const settleOnceMore = (db: Database, settlements: Settlement[]): Promise<Map<string, Settled>> =>
  settleBy(db, settlingOnceMore, settlements);

async function settleBy(
  db: Queries,
  { name, text }: typeof settling,
  settlements: Settlement[],
): Promise<Map<string, Settled>> {
  const rows = await db.query<Settled & { deliveryId: string }>(
    name,
    text,
    settlementRows.arrays(inLockOrder(settlements)),
  );
  return new Map(rows.map((row) => [row.deliveryId, row]));
}
