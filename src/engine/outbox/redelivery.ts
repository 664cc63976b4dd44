import type { Database } from '../../platform/database/postgres.js';
import {
  tryLockMoves,
  unclaimed,
  claimColumns,
  claimed,
  insertAttempts,
  insertCounts,
  insertIntoLog,
  isInRangeOf,
  isTroubled,
  ms,
  isOwed,
  lostOutcome,
  ofEvent,
  owedByKey,
  outcomeColumns,
  outcomeOf,
  outcomeParameters,
  outcomeValues,
  sameDelivery,
} from './sql.js';
import type { Claim, DueClaim, Room, Settlement } from './types.js';

/** True if the delivery's event is erased. The delivery may still be owed between the commits of an erasure. */
export const isErasedDelivery = (shipperId: string, deliveryId: string) => `exists (
  select 1 from (
    select event_id from (${owedByKey(shipperId, deliveryId)}) o
    union all
    select event_id from deliveries where shipper_id = ${shipperId} and delivery_id = ${deliveryId}) d
    join events using (event_id) where ${isInRangeOf('event_id', deliveryId)} and erasure = 'DONE')`;

const maxClaimed = 50;

/** Shippers take turns; of each, those that have waited longest come first. */
export async function findWaitingRedeliveries(
  db: Database,
  { byWebhook, ofOthers }: Omit<Room, 'total'>,
): Promise<string[]> {
  const rows = await db.query<{ delivery_id: string }>(
    'find-waiting-redeliveries',
    `select delivery_id from (
       select delivery_id, webhook_id, requested_at,
              row_number() over (partition by webhook_id order by requested_at) as place,
              row_number() over (partition by shipper_id order by requested_at) as place_of_shipper
         from redeliveries where lease_until is null) waiting
      where place <= coalesce(($1::jsonb -> webhook_id::text)::int, $2)
      order by place_of_shipper, requested_at limit ${maxClaimed}`,
    [JSON.stringify(byWebhook), ofOthers],
  );
  return rows.map((row) => row.delivery_id);
}

/**
 * The claims go before all others in their lanes. A webhook that is not active is included if the request came after it
 * was stopped; a suspended shipper's never is. An owed delivery keeps its schedule; a finished one stays in the log. A
 * request stays open while its delivery is being sent or locked, or while a replay moves deliveries of its webhook:
 * nobody waits for that with a connection.
 */
export function claimRedeliveries(db: Database, deliveryIds: string[], leaseMs: number): Promise<DueClaim[]> {
  return db.transaction(async (tx) => {
    const requested = await tx.query<{ delivery_id: string; webhook_id: string }>(
      'webhooks-of-redeliveries',
      `select delivery_id, webhook_id from redeliveries where delivery_id = any($1::uuid[]) and lease_until is null`,
      [deliveryIds],
    );
    const webhookIds = new Set(requested.map((row) => row.webhook_id));
    const locked = webhookIds.size > 0 ? await tryLockMoves(tx, [...webhookIds]) : [];
    const ids = requested.flatMap((row) => (locked.includes(row.webhook_id) ? [row.delivery_id] : []));
    return ids.length > 0 ? tx.query<DueClaim>('claim-redeliveries', claimText, [ids, leaseMs]) : [];
  });
}

const claimText = `
  with wanted as materialized (
    select r.shipper_id, r.delivery_id, w.revision, w.ordering, w.supersede,
           exists (select 1 from circuits c where c.webhook_id = w.webhook_id and ${isTroubled('c')}) as troubled
      from redeliveries r join webhooks w using (webhook_id)
     where r.delivery_id = any($1::uuid[]) and r.lease_until is null and w.deleted_at is null and not w.suspended
       and (w.status = 'ACTIVE' or r.requested_at > coalesce(w.stopped_at, '-infinity'))
       and not ${isErasedDelivery('r.shipper_id', 'r.delivery_id')}
     order by r.delivery_id for no key update of r skip locked
  ), free as materialized (
    select r.* from wanted r cross join lateral (
      select 1 from outbox
       where shipper_id = r.shipper_id and delivery_id = r.delivery_id and status <> 'SENDING'
       limit 1 for no key update skip locked) o
  ), owed as (
    update outbox o set ${claimed('$2')} from free r where ${sameDelivery('o', 'r')}
    returning o.shipper_id, o.delivery_id, o.event_id, o.webhook_id, o.attempt_count, r.revision, r.ordering,
              r.supersede, r.troubled
  ), o as materialized (
    select * from owed
    union all
    select d.shipper_id, d.delivery_id, d.event_id, d.webhook_id, d.attempt_count + 1, r.revision, r.ordering,
           r.supersede, r.troubled
      from wanted r join deliveries d on ${sameDelivery('d', 'r')}
     where d.status <> 'CANCELLED'
  ), taken as (
    update redeliveries r set lease_until = now() + ${ms('$2')}, number = o.attempt_count
      from o where r.delivery_id = any(array[o.delivery_id])
  )
  select ${claimColumns}, false as "isProbe", to_timestamp(0) as "dueAt", 0 as "sendableForMs"
    from (select o.*, s.shipment_id, s.sequence, 'MANUAL' as trigger, 0 as failure_count
            from o cross join lateral (select shipment_id, sequence from events where event_id = o.event_id limit 1) s) o
    ${ofEvent}`;

/** Leaves rows of the outbox to `renewLeases`. Locked rows are skipped. */
export async function renewRedeliveries(db: Database, claims: Claim[], leaseMs: number): Promise<void> {
  await db.query(
    'renew-redeliveries',
    `with held as materialized (
       select r.delivery_id
         from unnest($1::uuid[], $2::int[]) as t (delivery_id, number)
        cross join lateral (
          select delivery_id from redeliveries
           where delivery_id = t.delivery_id and number = t.number and lease_until is not null
           limit 1 for no key update skip locked) r
     )
     update redeliveries r set lease_until = now() + ${ms('$3')} from held
      where r.delivery_id = any(array[held.delivery_id])`,
    [claims.map(({ deliveryId }) => deliveryId), claims.map(({ number }) => number), leaseMs],
  );
}

const thisAttempt = `o.status = 'SENDING' and o.attempt_count = t.number`;

/** The request stays open. */
export async function giveRedeliveryBack(db: Database, claim: Claim): Promise<void> {
  await db.query(
    'give-redelivery-back',
    `with t as (
       update redeliveries set lease_until = null, number = null
        where shipper_id = $1 and delivery_id = $2 and number = $3 and lease_until is not null
       returning shipper_id, delivery_id, $3::int as number
     )
     update outbox o set ${unclaimed}, attempt_count = o.attempt_count - 1
       from t where ${sameDelivery('o', 't')} and ${thisAttempt}`,
    [claim.shipperId, claim.deliveryId, claim.number],
  );
}

/** Adds `requestedBy` to the detail of an attempt that an operator asked for. */
const withAsker = (detail: string) => `case requested_by when 'OPERATOR'
  then '{"requestedBy":"OPERATOR"' || coalesce(',' || nullif(substr(${detail}, 2), '}'), '}') else ${detail} end`;

const replaceLastAttempt = `
  before as (
    ${insertAttempts(`select d.shipper_id, d.delivery_id, d.attempt_count, d.trigger, d.started_at, ${outcomeOf('d')}
                        from t join deliveries d on ${sameDelivery('d', 't')} where d.started_at is not null`)}
  )`;

/**
 * A success settles the delivery; a failure leaves it and its schedule unchanged. If the delivery is in the log, the
 * attempt becomes its last one. Null if the claim was lost meanwhile; `finished` says whether the attempt settled a
 * delivery that was owed.
 */
export async function settleRedelivery(
  db: Database,
  attempt: Settlement,
): Promise<{ finished: boolean } | null> {
  const rows = await db.query<{ finished: boolean }>(
    'settle-redelivery',
    `with t (shipper_id, delivery_id, number, ${outcomeColumns}) as (
       delete from redeliveries
        where shipper_id = $1 and delivery_id = $2 and number = $3 and lease_until is not null
       returning shipper_id, delivery_id, number, ${outcomeParameters(6, withAsker)}
     ), ended as (
       delete from outbox o using t where $4 and ${sameDelivery('o', 't')} and ${thisAttempt}
       returning o.*
     ), logged as (
       ${insertIntoLog(`select e.shipper_id, e.delivery_id, event_id, webhook_id, state, 'SUCCEEDED', null, $3, now(), 'MANUAL',
                               $5::timestamptz, ${outcomeOf('t')} from ended e, t`)}
     ), rested as (
       update outbox o set ${unclaimed} from t where not $4 and ${sameDelivery('o', 't')} and ${thisAttempt}
       returning o.shipper_id, o.delivery_id, o.webhook_id
     ), kept as (
       ${insertAttempts(`select r.shipper_id, r.delivery_id, $3, 'MANUAL', $5, ${outcomeOf('t')} from rested r, t`)}
     ), ${replaceLastAttempt}, after as (
       update deliveries d
          set attempt_count = $3, trigger = 'MANUAL', started_at = $5,
              (${outcomeColumns}) = row (${outcomeOf('t')}),
              completed_at = case when $4 and d.status <> 'SUCCEEDED' then now() else d.completed_at end,
              status = case when $4 then 'SUCCEEDED' else d.status end, reason = case when not $4 then d.reason end
         from t where ${sameDelivery('d', 't')}
       returning d.webhook_id
     ), counted as (
       ${insertCounts(`select webhook_id, $5::timestamptz as started_at, 'MANUAL' as trigger, $4::boolean as succeeded,
                              $6::int as duration_ms
                         from (select webhook_id from ended union all select webhook_id from rested
                               union all select webhook_id from after) w`)}
     )
     select exists (select 1 from ended) as finished from t`,
    [
      attempt.shipperId,
      attempt.deliveryId,
      attempt.number,
      attempt.status === 'SUCCEEDED',
      attempt.startedAt,
      ...outcomeValues(attempt),
    ],
  );
  return rows[0] ?? null;
}

/** Each lapsed attempt enters the log as `LOST`, and its delivery may be claimed again. Returns their number. */
export async function takeLapsedRedeliveries(db: Database, leaseMs: number, limit: number): Promise<number> {
  const rows = await db.query(
    'take-lapsed-redeliveries',
    `with t as materialized (
       select shipper_id, delivery_id, number, lease_until - ${ms('$1')} as started_at from redeliveries
        where lease_until <= now() order by delivery_id limit $2 for update skip locked
     ), rested as (
       update outbox o set ${unclaimed} from t where ${sameDelivery('o', 't')} and ${thisAttempt}
       returning t.*, o.webhook_id
     ), lost as (
       ${insertAttempts(`select shipper_id, delivery_id, number, 'MANUAL', started_at, ${lostOutcome} from rested`)}
     ), ${replaceLastAttempt}, after as (
       update deliveries d
          set attempt_count = t.number, trigger = 'MANUAL', started_at = t.started_at,
              (${outcomeColumns}) = row (${lostOutcome})
         from t where ${sameDelivery('d', 't')}
       returning d.webhook_id, t.started_at
     ), counted as (
       ${insertCounts(`select webhook_id, started_at, 'MANUAL' as trigger, false as succeeded, null::int as duration_ms
                         from (select webhook_id, started_at from rested union all select * from after) w`)}
     )
     update redeliveries r set lease_until = null, number = null
       from t where r.delivery_id = any(array[t.delivery_id])
     returning r.delivery_id`,
    [leaseMs, limit],
  );
  return rows.length;
}

/** Deletes requests whose delivery is cancelled or whose webhook is deleted, suspended or was stopped since. */
export async function deleteVoidRedeliveries(db: Database): Promise<void> {
  await db.query(
    'delete-void-redeliveries',
    `delete from redeliveries r using webhooks w
      where r.lease_until is null and w.webhook_id = r.webhook_id
        and (w.deleted_at is not null or w.suspended or (w.status <> 'ACTIVE' and r.requested_at <= w.stopped_at)
             or (not ${isOwed('r')}
                 and not exists (select 1 from deliveries d where ${sameDelivery('d', 'r')} and d.status <> 'CANCELLED')))`,
  );
}
