import type { Database } from '../platform/postgres.js';
import { rangesOf, type TimeRange } from './log-range.js';
import { byStatus, everyStatus } from './status-condition.js';

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

const ofState = 'state = $8';

function conditionsOf({ status, state }: LogFilter): readonly string[] {
  if (state === undefined) return status ? [byStatus[status]] : everyStatus;
  if (status === undefined) return [ofState];
  // Few succeed of a rare state, and few end badly of any.
  return status === 'SUCCEEDED'
    ? [`${ofState} and status || '' = 'SUCCEEDED'`]
    : [`${byStatus[status]} and state || '' = $8`];
}

/** A page of the shipper's log, newest first: the newer pieces of its time before the older ones, until it is full. */
export async function listDeliveries(
  db: Database,
  shipperId: string,
  filter: LogFilter,
  beforeId: string | undefined,
  limit: number,
): Promise<Delivery[]> {
  const found: Delivery[] = [];
  for (const range of rangesOf(filter, beforeId)) {
    found.push(...(await listRange(db, shipperId, filter, range, beforeId, limit - found.length)));
    if (found.length === limit) break;
  }
  return found;
}

/**
 * Of each webhook the newest `limit` by the index that fits the filter, then the newest of those. With a tracking id:
 * the range of ids of each of the shipment's events; another event of the same millisecond may share that range.
 */
function listRange(
  db: Database,
  shipperId: string,
  filter: LogFilter,
  range: TimeRange,
  beforeId: string | undefined,
  limit: number,
): Promise<Delivery[]> {
  const inRange = 'delivery_id >= uuid_floor($3) and delivery_id < least($4::uuid, uuid_floor($5))';
  const conditions = conditionsOf(filter);
  const newestOf = (condition: string) =>
    `(select delivery_id from deliveries
       where webhook_id = webhooks.webhook_id and ${inRange} and ${condition}
       order by delivery_id desc limit $6)`;
  const newest = filter.trackingId
    ? `from events
         join lateral (
           select delivery_id from deliveries
            where delivery_id >= overlay(events.event_id::text placing '0000-000000000000' from 20)::uuid
              and delivery_id <= overlay(events.event_id::text placing 'ffff-ffffffffffff' from 20)::uuid
              and event_id = events.event_id
              and webhook_id in (select webhook_id from webhooks where shipper_id = $1)
              and ($2::uuid is null or webhook_id = $2) and ${inRange} and (${conditions.join(' or ')})
         ) found on true
        where shipment_id = (select shipment_id from shipments where tracking_id = $7 and shipper_id = $1)`
    : `from webhooks join lateral (${conditions.map(newestOf).join(' union all ')}) found on true
        where shipper_id = $1 and ($2::uuid is null or webhook_id = $2) and $7::text is null`;
  const name = [
    'list',
    filter.status ?? 'any',
    filter.state && 'of-state',
    filter.trackingId && 'of-shipment',
  ];
  return db.query<Delivery>(
    name.filter(Boolean).join('-'),
    `with page as (select found.delivery_id ${newest}
                    order by found.delivery_id desc limit $6)
     select ${deliveryColumns}
       from page join deliveries d using (delivery_id) ${deliveryJoins}
      order by d.delivery_id desc`,
    [
      shipperId,
      filter.webhookId ?? null,
      range.from,
      beforeId ?? null,
      range.before,
      limit,
      filter.trackingId ?? null,
      ...(filter.state === undefined ? [] : [filter.state]),
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
