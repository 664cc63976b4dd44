import type { Database } from '../platform/postgres.js';
import type { DueDelivery } from './enqueue.js';
import type { Claim, Settlement } from './store.js';

/** Asks for one attempt outside the schedule. False where the delivery may have none or is not the shipper's. */
export async function requestManual(db: Database, shipperId: string, deliveryId: string): Promise<boolean> {
  const rows = await db.query(
    'request-manual',
    `update deliveries d set manual_requested_at = coalesce(d.manual_requested_at, now())
       from webhooks w
      where d.delivery_id = $2 and d.status <> 'CANCELLED'
        and w.webhook_id = d.webhook_id and w.shipper_id = $1 and w.deleted_at is null
     returning d.delivery_id`,
    [shipperId, deliveryId],
  );
  return rows.length > 0;
}

/**
 * Claims manual attempts that were asked for, also of webhooks that are not active if it was asked for since
 * they are not. The schedule is left as it is: sweep_at goes, so that no sweep of scheduled attempts sees the row.
 */
export function claimManual(db: Database, deliveryIds: string[], leaseMs: number): Promise<Claim[]> {
  return db.query<Claim>(
    'claim-manual',
    `update deliveries d
        set claimed = true, attempt_count = d.attempt_count + 1, sweep_at = null,
            manual_lease_until = now() + make_interval(secs => $2::float8 / 1000)
       from webhooks w, events e
      where d.delivery_id = any($1::uuid[])
        and d.manual_requested_at is not null and not d.claimed and d.status <> 'CANCELLED'
        and w.webhook_id = d.webhook_id and w.deleted_at is null
        and (w.status = 'ACTIVE' or d.manual_requested_at > coalesce(w.stopped_at, '-infinity'))
        and e.event_id = d.event_id
     returning d.delivery_id as "deliveryId", d.attempt_count as number, 'MANUAL' as trigger,
               d.failure_count as "failureCount", d.webhook_id as "webhookId",
               coalesce(e.external_id, e.event_id::text) as "eventId", e.body, e.recorded_at as "recordedAt", e.sequence,
               e.shipment_id as "shipmentId", w.ordering = 'SHIPMENT' and e.shipment_id is not null as ordered,
               false as "isProbe", exists (select 1 from circuits c where c.webhook_id = w.webhook_id) as troubled,
               w.target_address as "targetAddress", w.headers,
               case when w.previous_secret_until > now() then array[w.secret, w.previous_secret]
                    else array[w.secret] end as secrets`,
    [deliveryIds, leaseMs],
  );
}

/** Gives a manual claim back that was not sent; it stays asked for. */
export async function releaseManual(db: Database, claim: Claim, graceMs: number): Promise<void> {
  await db.query(
    'release-manual',
    `update deliveries
        set claimed = false, attempt_count = attempt_count - 1, manual_lease_until = null,
            sweep_at = case status when 'PENDING' then due_at when 'HELD' then now() end + make_interval(secs => $3::float8 / 1000)
      where delivery_id = $1 and claimed and attempt_count = $2 and manual_lease_until is not null`,
    [claim.deliveryId, claim.number, graceMs],
  );
}

export type ManualResult = Omit<Settlement, 'status' | 'delayMs'> & { succeeded: boolean };

/**
 * Records a manual attempt or a test. A success ends the delivery; after a failure it is what it was before, its
 * schedule untouched, but a test has FAILED. Null if the claim was taken away; `due` if a scheduled attempt is due now.
 */
export async function settleManual(
  db: Database,
  result: ManualResult,
  graceMs: number,
): Promise<(DueDelivery & { due: boolean }) | null> {
  const rows = await db.query<DueDelivery & { due: boolean }>(
    'settle-manual',
    `with settled as (
       update deliveries
          set status = case when $3 then 'SUCCEEDED' when trigger = 'TEST' then 'FAILED' else status end,
              completed_at = case when status <> 'SUCCEEDED' and ($3 or trigger = 'TEST') then now()
                                  else completed_at end,
              due_at = case when not $3 then due_at end,
              sweep_at = case when not $3 and trigger <> 'TEST'
                              then case status when 'PENDING' then due_at when 'HELD' then now() end
                                   + make_interval(secs => $10::float8 / 1000) end,
              trigger = case when $3 or trigger = 'TEST' then 'SCHEDULED' else trigger end,
              claimed = false, manual_requested_at = null, manual_lease_until = null
        where delivery_id = $1 and claimed and attempt_count = $2 and manual_lease_until is not null
       returning delivery_id, webhook_id, status, due_at
     ), logged as (
       insert into attempts (delivery_id, number, trigger, started_at, duration_ms, status_code, error_code,
                             response_body)
       select delivery_id, $2, $4, $5, $6, $7, $8, $9 from settled
     )
     select delivery_id as "deliveryId", webhook_id as "webhookId",
            coalesce(status = 'PENDING' and due_at <= now(), false) as due
       from settled`,
    [
      result.deliveryId,
      result.number,
      result.succeeded,
      result.trigger,
      result.startedAt,
      Math.round(result.durationMs),
      result.statusCode,
      result.errorCode,
      result.responseBody,
      graceMs,
    ],
  );
  return rows[0] ?? null;
}
