import { timeOfId } from '../platform/ids.js';
import type { Database } from '../platform/postgres.js';
import { readFew, readNewest } from './log-page-store.js';
import { rangesOf } from './log-range.js';

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

export const deliveryColumns = `d.delivery_id as "deliveryId", d.webhook_id as "webhookId",
  coalesce(e.external_id, e.event_id::text) as "eventId", s.tracking_id as "trackingId", d.state, d.status,
  d.reason, d.attempt_count as "attemptCount", d.due_at as "nextAttemptAt", e.recorded_at as "createdAt",
  d.completed_at as "completedAt"`;
export const deliveryJoins = `join events e using (event_id) left join shipments s on s.shipment_id = e.shipment_id`;

/** A page of the shipper's log, newest first: the newer pieces of its time before the older ones, until it is full. */
export async function listDeliveries(
  db: Database,
  shipperId: string,
  filter: LogFilter,
  beforeId: string | undefined,
  limit: number,
): Promise<Delivery[]> {
  const found: Delivery[] = [];
  const times = filter.trackingId === undefined ? filter : await timesOf(db, shipperId, filter);
  for (const [piece, range] of rangesOf(times, beforeId).entries()) {
    const query = { shipperId, filter, range, beforeId, limit: limit - found.length };
    // The newest day most often fills the page; if it did not, there are few.
    found.push(...(await (piece === 0 ? readNewest : readFew)(db, query)));
    if (found.length === limit) break;
  }
  return found;
}

/** The time in which a shipment had events, by their ids, as far as the filter wants it. */
async function timesOf(
  db: Database,
  shipperId: string,
  { trackingId, from, to }: LogFilter,
): Promise<{ from: Date; to: Date }> {
  const [row] = await db.query<{ first: string | null; last: string | null }>(
    'shipment-times',
    `select (array_agg(event_id order by event_id))[1] as first, (array_agg(event_id order by event_id desc))[1] as last
       from events
      where shipment_id = (select shipment_id from shipments where tracking_id = $2 and shipper_id = $1)`,
    [shipperId, trackingId],
  );
  const { first, last } = row!;
  return {
    from: new Date(Math.max(from?.getTime() ?? 0, first ? timeOfId(first) : 0)),
    to: new Date(Math.min(to?.getTime() ?? Infinity, last ? timeOfId(last) + 1 : 0)),
  };
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
