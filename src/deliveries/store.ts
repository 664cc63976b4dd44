import type { Database } from '../platform/postgres.js';
import type { DueDelivery } from './enqueue.js';
import { bounds } from './bounds.js';
import { itsTurn } from './order-store.js';

/** A delivery a worker may send: all it needs, and the attempt's number, the fencing token of its result. */
export interface Claim {
  deliveryId: string;
  number: number;
  trigger: 'SCHEDULED' | 'MANUAL' | 'TEST' | 'REPLAY';
  failureCount: number;
  webhookId: string;
  /** The event's id as the world knows it: `webhook-id`. */
  eventId: string;
  body: string;
  /** When the event was recorded. */
  recordedAt: Date;
  /** Null for a notification that belongs to no shipment. */
  shipmentId: string | null;
  sequence: number;
  /** The webhook wants a shipment's states one at a time. */
  ordered: boolean;
  /** The one delivery an open circuit lets through. */
  isProbe: boolean;
  /** The webhook has failed lately: its successes count too. */
  troubled: boolean;
  targetAddress: string;
  headers: Record<string, string>;
  /** Sealed, the current one first; two during a rotation. */
  secrets: string[];
}

/**
 * Claims what is due of the deliveries named, in one statement: counts the attempt and leases it. Left out is
 * what is done, claimed, not due, not its turn, or whose webhook is not active or has an open circuit.
 */
export function claimDeliveries(
  db: Database,
  due: DueDelivery[],
  leaseMs: number,
  orderHoldMs: number,
): Promise<Claim[]> {
  const deliveryIds = due.map(({ deliveryId }) => deliveryId);
  const webhookIds = [...new Set(due.map(({ webhookId }) => webhookId))];
  return db.query<Claim>(
    'claim-deliveries',
    // sweep_at is indexed: it is moved only where the lease would be too short or too long, so that
    // most claims are HOT updates.
    `update deliveries d
        set claimed = true, attempt_count = d.attempt_count + 1,
            sweep_at = case when d.sweep_at between now() + make_interval(secs => $4::float8 * 0.5 / 1000)
                                                and now() + make_interval(secs => $4::float8 / 1000)
                            then d.sweep_at else now() + make_interval(secs => $4::float8 / 1000) end
       from webhooks w left join circuits c using (webhook_id), events e
      where d.delivery_id = any($1::uuid[]) and d.delivery_id between $2 and $3
        and d.status = 'PENDING' and not d.claimed and d.due_at <= now()
        and w.webhook_id = d.webhook_id and w.webhook_id = any($6::uuid[]) and w.status = 'ACTIVE' and w.deleted_at is null
        and (c.open_until is null or c.probe_delivery_id = d.delivery_id)
        and e.event_id = d.event_id and ${itsTurn('$5')}
     returning d.delivery_id as "deliveryId", d.attempt_count as number, d.trigger,
               d.failure_count as "failureCount", d.webhook_id as "webhookId",
               coalesce(e.external_id, e.event_id::text) as "eventId", e.body, e.recorded_at as "recordedAt", e.shipment_id as "shipmentId",
               e.sequence, w.ordering = 'SHIPMENT' and e.shipment_id is not null as ordered,
               c.open_until is not null as "isProbe", c.webhook_id is not null as troubled,
               w.target_address as "targetAddress", w.headers,
               case when w.previous_secret_until > now() then array[w.secret, w.previous_secret]
                    else array[w.secret] end as secrets`,
    [deliveryIds, ...bounds(deliveryIds), leaseMs, orderHoldMs, webhookIds],
  );
}

/** What waits its turn is looked at again after this time, in case the release was lost. */
const turnSweepMs = 60_000;

/**
 * What is due but may not be sent: cancelled where the webhook is deleted, held where it is not active, its circuit
 * is open, or an earlier state of the shipment is still owed. Answers those whose webhook may be called: whether it
 * is their turn is to be asked again, after this commit.
 */
export async function parkDeliveries(
  db: Database,
  deliveryIds: string[],
  orderHoldMs: number,
): Promise<string[]> {
  const rows = await db.query<{ delivery_id: string }>(
    'park-deliveries',
    `with looked as materialized (
       select d.delivery_id, w.deleted_at is not null as deleted,
              w.status <> 'ACTIVE' or (c.open_until is not null and c.probe_delivery_id is distinct from d.delivery_id)
                as stopped,
              coalesce(d.turn_waited_since, now() - coalesce(d.turn_waited, '0')) as waited_since, ${itsTurn('$4')} as its_turn
         from deliveries d
         join webhooks w using (webhook_id) left join circuits c using (webhook_id) join events e using (event_id)
        where d.delivery_id = any($1::uuid[]) and d.delivery_id between $2 and $3
          and d.status = 'PENDING' and not d.claimed and d.due_at <= now()
     ), parked as (
       update deliveries d
          set status = case when p.deleted then 'CANCELLED' else 'HELD' end,
              reason = case when p.deleted then 'WEBHOOK_DELETED' end,
              completed_at = case when p.deleted then now() end,
              due_at = null,
              turn_waited_since = case when not p.deleted and not p.stopped then p.waited_since end,
              turn_waited = now() - p.waited_since,
              sweep_at = case when not p.deleted and not p.stopped then least(
                now() + make_interval(secs => ${turnSweepMs / 1000}),
                p.waited_since + make_interval(secs => $4::float8 / 1000)) end
         from looked p
        where d.delivery_id = p.delivery_id and d.delivery_id = any($1::uuid[]) and d.delivery_id between $2 and $3
          and d.status = 'PENDING' and not d.claimed
          and (p.deleted or p.stopped or not p.its_turn)
     )
     select delivery_id from looked where not deleted and not stopped`,
    [deliveryIds, ...bounds(deliveryIds), orderHoldMs],
  );
  return rows.map((row) => row.delivery_id);
}

/** Gives claims back that were not sent: the attempt does not count. */
export async function releaseClaims(db: Database, claims: Claim[]): Promise<void> {
  const ids = claims.map((claim) => claim.deliveryId);
  await db.query(
    'release-claims',
    `update deliveries d set claimed = false, attempt_count = d.attempt_count - 1, sweep_at = now()
       from unnest($1::uuid[], $2::int[]) as c (delivery_id, number)
      where d.delivery_id = c.delivery_id and d.delivery_id = any($1::uuid[]) and d.delivery_id between $3 and $4
        and d.claimed and d.attempt_count = c.number`,
    [ids, claims.map((claim) => claim.number), ...bounds(ids)],
  );
}

/** Prolongs the leases of attempts under way. Waits for nobody: one row that is locked must not cost the others theirs. */
export async function renewLeases(db: Database, claims: Claim[], leaseMs: number): Promise<void> {
  const ids = claims.map((claim) => claim.deliveryId);
  await db.query(
    'renew-leases',
    `update deliveries d set sweep_at = now() + make_interval(secs => $5::float8 / 1000)
       from (
         select l.delivery_id
           from unnest($1::uuid[], $2::int[]) as c (delivery_id, number)
           join deliveries l on l.delivery_id = c.delivery_id and l.attempt_count = c.number and l.claimed
          where l.delivery_id = any($1::uuid[]) and l.delivery_id between $3 and $4
            for no key update of l skip locked) leased
      where d.delivery_id = leased.delivery_id and d.delivery_id = any($1::uuid[]) and d.delivery_id between $3 and $4`,
    [ids, claims.map((claim) => claim.number), ...bounds(ids), leaseMs],
  );
}

/** An attempt's outcome and what becomes of its delivery. */
export interface Settlement {
  deliveryId: string;
  number: number;
  trigger: Claim['trigger'];
  /** HELD where the webhook was found gone or its circuit stays open: the attempt costs no retry. */
  status: 'SUCCEEDED' | 'FAILED' | 'PENDING' | 'HELD';
  /** Until the next attempt; null where none follows. */
  delayMs: number | null;
  startedAt: Date;
  durationMs: number;
  statusCode: number | null;
  errorCode: string | null;
  responseBody: string | null;
}

/** What an attempt left held is looked at once more, in case what held it was over before the outcome was recorded. */
const heldSweepMs = 3_000;

/**
 * Records many outcomes in one statement: the attempt's row, the status and the next attempt. Refused is a
 * result whose claim was taken away meanwhile (fencing); a claim that a crash of PostgreSQL has forgotten still holds
 * while nobody else has made it. Answers the numbers of the attempts settled, by deliveryId.
 */
export async function settleDeliveries(
  db: Database,
  settlements: Settlement[],
  graceMs: number,
): Promise<Map<string, number>> {
  const ids = settlements.map((settlement) => settlement.deliveryId);
  const rows = await db.query<{ delivery_id: string; number: number }>(
    'settle-deliveries',
    `with input as (
       select * from unnest($1::uuid[], $2::int[], $3::text[], $4::float8[], $5::timestamptz[], $6::int[],
                            $7::int[], $8::text[], $9::text[], $10::text[])
         as t (delivery_id, number, status, delay_ms, started_at, duration_ms, status_code, error_code,
               response_body, trigger)
     ), settled as (
       update deliveries d
          set status = i.status, claimed = false, attempt_count = i.number, trigger = 'SCHEDULED',
              failure_count = d.failure_count + (i.status in ('PENDING', 'FAILED') and i.trigger = 'SCHEDULED')::int,
              due_at = now() + make_interval(secs => i.delay_ms / 1000),
              sweep_at = now() + make_interval(secs => case when i.status = 'HELD' then ${heldSweepMs / 1000}
                                                            else (i.delay_ms + $11::float8) / 1000 end),
              completed_at = case when i.status in ('SUCCEEDED', 'FAILED') then now() end
         from input i
        where d.delivery_id = i.delivery_id and d.delivery_id = any($1::uuid[]) and d.delivery_id between $12 and $13
          and (d.claimed and d.attempt_count = i.number
               or not d.claimed and d.attempt_count = i.number - 1 and d.completed_at is null)
       returning i.*
     )
     insert into attempts (delivery_id, number, trigger, started_at, duration_ms, status_code, error_code,
                           response_body)
     select delivery_id, number, trigger, started_at, duration_ms, status_code, error_code, response_body
       from settled
     returning delivery_id, number`,
    [
      ids,
      settlements.map((settlement) => settlement.number),
      settlements.map((settlement) => settlement.status),
      settlements.map((settlement) => settlement.delayMs),
      settlements.map((settlement) => settlement.startedAt),
      settlements.map((settlement) => Math.round(settlement.durationMs)),
      settlements.map((settlement) => settlement.statusCode),
      settlements.map((settlement) => settlement.errorCode),
      settlements.map((settlement) => settlement.responseBody),
      settlements.map((settlement) => settlement.trigger),
      graceMs,
      ...bounds(ids),
    ],
  );
  return new Map(rows.map((row) => [row.delivery_id, row.number]));
}

/** Of outcomes that were refused: the deliveries whose log holds this very attempt. */
export async function findRecorded(db: Database, refused: Settlement[]): Promise<string[]> {
  const rows = await db.query<{ delivery_id: string }>(
    'find-recorded',
    `select a.delivery_id
       from unnest($1::uuid[], $2::int[], $3::timestamptz[]) as r (delivery_id, number, started_at)
       join attempts a on a.delivery_id = r.delivery_id and a.number = r.number and a.started_at = r.started_at
      where a.delivery_id = any($1::uuid[]) and a.duration_ms is not null`,
    [
      refused.map(({ deliveryId }) => deliveryId),
      refused.map(({ number }) => number),
      refused.map(({ startedAt }) => startedAt),
    ],
  );
  return rows.map((row) => row.delivery_id);
}
