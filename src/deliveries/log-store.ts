import type { Database } from '../platform/postgres.js';

export interface Delivery {
  deliveryId: string;
  webhookId: string;
  eventId: string;
  trackingId: string | null;
  state: string;
  status: 'PENDING' | 'HELD' | 'SUCCEEDED' | 'FAILED' | 'CANCELLED';
  reason: string | null;
  attemptCount: number;
  nextAttemptAt: Date | null;
  createdAt: Date;
  completedAt: Date | null;
}

export interface LogFilter {
  webhookId?: string | undefined;
  trackingId?: string | undefined;
  state?: string | undefined;
  status?: Delivery['status'] | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
}

const deliveryColumns = `d.delivery_id as "deliveryId", d.webhook_id as "webhookId",
  coalesce(e.external_id, e.event_id::text) as "eventId", s.tracking_id as "trackingId", d.state, d.status,
  d.reason, d.attempt_count as "attemptCount", d.due_at as "nextAttemptAt", e.recorded_at as "createdAt",
  d.completed_at as "completedAt"`;
const deliveryJoins = `join events e using (event_id) left join shipments s on s.shipment_id = e.shipment_id`;

/** One index serves each kind of status: the open, those that ended badly, and the log itself. */
const statusCondition = {
  PENDING: `status in ('PENDING', 'HELD') and status = 'PENDING'`,
  HELD: `status in ('PENDING', 'HELD') and status = 'HELD'`,
  FAILED: `status in ('FAILED', 'CANCELLED') and status = 'FAILED'`,
  CANCELLED: `status in ('FAILED', 'CANCELLED') and status = 'CANCELLED'`,
  SUCCEEDED: `status = 'SUCCEEDED'`,
  any: 'true',
};

/**
 * A page of the shipper's log, newest first: of each webhook the newest `limit` by the index of webhook and id,
 * then the newest of those. With a tracking id: the range of ids of each of the shipment's events.
 */
export function listDeliveries(
  db: Database,
  shipperId: string,
  filter: LogFilter,
  beforeId: string | undefined,
  limit: number,
): Promise<Delivery[]> {
  const status = filter.status ?? 'any';
  const inRange = `delivery_id >= coalesce(uuid_floor($3), uuid_floor('epoch'))
    and delivery_id < coalesce($4::uuid, uuid_floor($5), 'ffffffff-ffff-ffff-ffff-ffffffffffff')
    and ($6::text is null or state = $6) and ${statusCondition[status]}`;
  const newest = filter.trackingId
    ? `from events
         join lateral (
           select delivery_id from deliveries
            where delivery_id >= overlay(events.event_id::text placing '0000-000000000000' from 20)::uuid
              and delivery_id <= overlay(events.event_id::text placing 'ffff-ffffffffffff' from 20)::uuid
              and webhook_id in (select webhook_id from webhooks where shipper_id = $1)
              and ($2::uuid is null or webhook_id = $2) and ${inRange}
         ) found on true
        where shipment_id = (select shipment_id from shipments where tracking_id = $8 and shipper_id = $1)`
    : `from webhooks
         join lateral (
           select delivery_id from deliveries
            where webhook_id = webhooks.webhook_id and ${inRange}
            order by delivery_id desc limit $7
         ) found on true
        where shipper_id = $1 and ($2::uuid is null or webhook_id = $2) and $8::text is null`;
  return db.query<Delivery>(
    `list-deliveries-${status}-${filter.trackingId ? 'of-shipment' : 'all'}`,
    `with page as (select found.delivery_id ${newest} order by found.delivery_id desc limit $7)
     select ${deliveryColumns}
       from page join deliveries d using (delivery_id) ${deliveryJoins}
      order by d.delivery_id desc`,
    [
      shipperId,
      filter.webhookId ?? null,
      filter.from ?? null,
      beforeId ?? null,
      filter.to ?? null,
      filter.state ?? null,
      limit,
      filter.trackingId ?? null,
    ],
  );
}

export async function findDelivery(
  db: Database,
  shipperId: string,
  deliveryId: string,
): Promise<(Delivery & { payload: string }) | null> {
  const rows = await db.query<Delivery & { payload: string }>(
    'find-delivery',
    `select ${deliveryColumns}, e.body as payload
       from deliveries d ${deliveryJoins}
       join webhooks w on w.webhook_id = d.webhook_id and w.shipper_id = $1
      where d.delivery_id = $2`,
    [shipperId, deliveryId],
  );
  return rows[0] ?? null;
}

export interface Attempt {
  number: number;
  trigger: string;
  startedAt: Date;
  durationMs: number | null;
  statusCode: number | null;
  errorCode: string | null;
  responseBody: string | null;
}

export function listAttempts(db: Database, deliveryId: string): Promise<Attempt[]> {
  return db.query<Attempt>(
    'list-attempts',
    `select number, trigger, started_at as "startedAt", duration_ms as "durationMs", status_code as "statusCode",
            error_code as "errorCode", response_body as "responseBody"
       from attempts where delivery_id = $1 order by number`,
    [deliveryId],
  );
}
