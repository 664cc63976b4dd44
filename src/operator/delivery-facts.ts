import type { Database } from '../platform/database/postgres.js';
import { parkedFrom } from '../catch-up/replay/piece-store.js';
import {
  blocker,
  frontOf,
  isInRangeOf,
  isInterested,
  isPausedByOperator,
  isProbed,
  isWithdrawn,
  ms,
  parseDetail,
  type WaitedMs,
} from '../engine/engine.js';

/** Facts that hold together at one time of PostgreSQL's clock. */
export interface DeliveryFacts {
  asOf: Date;
  place: 'OUTBOX' | 'LOG' | 'NOWHERE';
  shipperId: string;
  deliveryId: string;
  eventId: string;
  webhookId: string;
  shipmentId: string | null;
  trackingId: string | null;
  sequence: number;
  state: string;
  status: 'READY' | 'SENDING' | 'RETRY' | 'SUCCEEDED' | 'FAILED' | 'CANCELLED' | null;
  reason: string | null;
  attemptCount: number;
  failureCount: number;
  completedAt: Date | null;
  waitsTurn: boolean;
  dueAt: Date | null;
  leaseUntil: Date | null;
  replayId: string | null;
  isWithdrawn: boolean;
  behind: { deliveryId: string; eventId: string; sequence: number; status: string } | null;
  /** The last finished one; `waitedMs` as in the log. */
  lastAttempt: LastAttempt | null;
  /** When `behind` stops blocking it (ORDER_HOLD); null while that is unknown. */
  behindUntil: Date | null;
  /** Counted up to `maxAhead`. */
  ahead: number;
  /** Deliveries of its webhook that workers have claimed, counted among the `maxAhead` longest due. */
  claimed: number;
  /** Half of the webhook's attempts in its last hour with any took at most this long. */
  medianMs: number | null;
  webhookStatus: 'ACTIVE' | 'PAUSED' | 'DISABLED';
  disabledReason: string | null;
  isPausedByOperator: boolean;
  isDeleted: boolean;
  isSuspended: boolean;
  /** The attempts in flight that an operator allows its shipper in each worker. */
  maxConcurrency: number | null;
  /** Attempts that its webhook's owner allows in a second. */
  maxPerSecond: number | null;
  /** Its host has not agreed to more, or its receiver was overloaded. */
  isSlowed: boolean;
  isParked: boolean;
  /** True if the delivery gets a row only when the position of its parked webhook reaches its event. */
  isBehindParked: boolean;
  circuitOpenUntil: Date | null;
  probeUntil: Date | null;
  /** Number and lease are those of the manual attempt under way. */
  handRequestedAt: Date | null;
  handNumber: number | null;
  handLeaseUntil: Date | null;
  /** The request came before its webhook was stopped, so it waits until the webhook is called again. */
  isHandStopped: boolean;
}

export interface LastAttempt {
  number: number;
  startedAt: string;
  statusCode: number | null;
  errorCode: string | null;
  waitedMs: WaitedMs | null;
}

export const maxAhead = 1_000;

/**
 * One statement, so that a delivery just moving into the log is found. A delivery's id contains half of its event's id:
 * the event leads to the shipper, and without a row, to the webhook whose delivery id matches.
 */
export async function findFacts(
  db: Database,
  deliveryId: string,
  { orderHoldMs }: { orderHoldMs: number },
): Promise<DeliveryFacts | null> {
  const rows = await db.query<DeliveryFacts & { detail: string | null }>(
    'explain-delivery',
    `with known as materialized (
       select event_id, shipper_id, shipment_id, sequence, state, position from events
        where ${isInRangeOf('event_id', '$1::uuid')}
     ), whose as materialized (
       select distinct shipper_id from known
     ), o as materialized (
       select o.*, ${isWithdrawn('o')} as withdrawn
         from whose cross join lateral (
         select * from outbox where shipper_id = whose.shipper_id and delivery_id = $1::uuid limit 1) o
     ), d as materialized (
       select d.* from whose cross join lateral (
         select event_id, webhook_id, status, reason, attempt_count, completed_at, started_at, status_code, error_code, detail
           from deliveries
          where shipper_id = whose.shipper_id and delivery_id = $1::uuid limit 1) d
     ), found as materialized (
       select 'OUTBOX' as place, event_id, webhook_id from o
       union all
       select 'LOG', event_id, webhook_id from d
       union all
       select 'NOWHERE', e.event_id, w.webhook_id from known e join webhooks w using (shipper_id)
        where w.deleted_at is null and delivery_id(e.event_id, w.webhook_id) = $1::uuid
          and not exists (select 1 from o) and not exists (select 1 from d)
     )
     select now() as "asOf", f.place, e.shipper_id as "shipperId", $1::uuid as "deliveryId", f.event_id as "eventId",
            f.webhook_id as "webhookId", e.shipment_id as "shipmentId",
            (select tracking_id from shipments where shipment_id = e.shipment_id) as "trackingId", e.sequence, e.state,
            coalesce(o.status, d.status) as status, d.reason,
            coalesce(o.attempt_count, d.attempt_count, 0) as "attemptCount", coalesce(o.failure_count, 0) as "failureCount",
            d.completed_at as "completedAt", coalesce(o.waits_turn, false) as "waitsTurn", o.due_at as "dueAt",
            o.lease_until as "leaseUntil", o.replay_id as "replayId", coalesce(o.withdrawn, false) as "isWithdrawn",
            case when b.delivery_id is not null then json_build_object('deliveryId', b.delivery_id, 'eventId', b.event_id,
              'sequence', b.sequence, 'status', b.status) end as behind,
            case when w.probed and b.first_failed_at is not null
                 then greatest(b.first_failed_at, w.called_since) + ${ms('$2')} end as "behindUntil",
            case when a.number is not null then json_build_object('number', a.number, 'startedAt', a.started_at,
              'statusCode', a.status_code, 'errorCode', a.error_code) end as "lastAttempt", a.detail,
            ahead.count as ahead, claimed.count as claimed, (
              select p50_ms from webhook_hours where webhook_id = f.webhook_id order by hour desc limit 1) as "medianMs",
            w.status as "webhookStatus", w.disabled_reason as "disabledReason",
            w.paused_by_operator as "isPausedByOperator",
            w.deleted_at is not null as "isDeleted", w.suspended as "isSuspended",
            (select max_concurrency from shippers where shipper_id = e.shipper_id) as "maxConcurrency",
            w.max_per_second as "maxPerSecond", coalesce(w.paced_until > now(), false) as "isSlowed",
            w.parked_from is not null as "isParked",
            coalesce(${isInterested('e.state', 'w.interests')} and e.shipment_id is not null
              and (e.position, e.event_id) > (p.last_position, p.last_event_id), false) as "isBehindParked",
            c.open_until as "circuitOpenUntil", c.probe_until as "probeUntil",
            r.requested_at as "handRequestedAt", r.number as "handNumber", r.lease_until as "handLeaseUntil",
            coalesce(w.status <> 'ACTIVE' and r.requested_at <= w.stopped_at, false) as "isHandStopped"
       from found f
       join known e on e.event_id = f.event_id
      cross join lateral (
        select webhook_id, shipper_id, interests, status, disabled_reason, deleted_at, suspended, ordering, called_since, max_per_second, paced_until,
               stopped_at, ${isPausedByOperator('webhooks')} as paused_by_operator, ${isProbed('webhooks')} as probed, ${parkedFrom('webhooks')} as parked_from
          from webhooks where webhook_id = f.webhook_id limit 1) w
       left join o on true
       left join d on o.delivery_id is null
       left join lateral (
         select open_until, probe_until from circuits
          where webhook_id = f.webhook_id and open_until is not null limit 1) c on true
       left join lateral (
         select last_position, last_event_id from replays
          where shipper_id = w.shipper_id and webhook_id = w.webhook_id and status = 'RUNNING' and kind = 'PARKED'
          limit 1) p on true
       left join lateral (
         select requested_at, number, lease_until from redeliveries where delivery_id = $1::uuid limit 1) r on true
       left join lateral (
         ${blocker('o', '$2', 'b.delivery_id, b.event_id, b.sequence, b.status, b.first_failed_at')}
            and o.waits_turn and w.ordering <> 'NONE'
          order by b.sequence limit 1) b on true
       left join lateral (
         select * from (
           (select number, started_at, status_code, error_code, detail from attempts
             where delivery_id = $1::uuid and shipper_id = e.shipper_id order by number desc limit 1)
           union all
           select d.attempt_count, d.started_at, d.status_code, d.error_code, d.detail where d.started_at is not null
         ) last order by number desc limit 1) a on true
      cross join lateral (
        select count(*)::int as count from (
          select 1 from outbox x
           where x.webhook_id = o.webhook_id and x.due_at < o.due_at and x.due_at <= now()
           order by x.due_at limit ${maxAhead}) a) ahead
      cross join lateral (
        select count(*)::int as count from (${frontOf('o.webhook_id', String(maxAhead))}) front where status = 'SENDING') claimed
      limit 1`,
    [deliveryId, orderHoldMs],
  );
  const [row] = rows;
  if (!row) return null;
  const { detail, lastAttempt, ...facts } = row;
  const { waitedMs } = parseDetail(detail);
  return { ...facts, lastAttempt: lastAttempt && { ...lastAttempt, waitedMs } };
}
