import type { Database } from '../../platform/database/postgres.js';
import { detailsOf, readPage, type LogFilter, type LogRow, rangesOf, type TimeRange } from './page-store.js';
import { timeOfId } from '../../platform/ids.js';
import {
  isCallable,
  noDetail,
  outcomeColumns,
  owedByKey,
  parseDetail,
  type AttemptDetail,
} from '../../engine/engine.js';
import { isUuid } from '../../http/request/paging.js';
import { invalidRequest } from '../../platform/errors.js';

/** Why a delivery is held: an earlier state of its shipment, its webhook is not called, or no faster than it may be. */
export const heldByValues = ['TURN', 'CIRCUIT', 'PAUSED', 'DISABLED', 'RATE', 'SUSPENDED'] as const;
type HeldBy = Exclude<(typeof heldByValues)[number], 'TURN'>;

export type Holds = Map<string, { heldBy: HeldBy; nextProbeAt: Date | null }>;

async function findHolds(db: Database, shipperId: string): Promise<Holds> {
  const rows = await db.query<{ webhookId: string; heldBy: HeldBy; nextProbeAt: Date | null }>(
    'find-holds',
    `select w.webhook_id as "webhookId", c.open_until as "nextProbeAt",
            case when w.suspended then 'SUSPENDED' when w.status <> 'ACTIVE' then w.status
                 when c.open_until is not null then 'CIRCUIT' else 'RATE' end as "heldBy"
       from webhooks w
       left join lateral (
         select open_until from circuits where webhook_id = w.webhook_id and open_until is not null limit 1) c on true
      where w.shipper_id = $1 and w.deleted_at is null and (not ${isCallable('w')} or w.max_per_second is not null or w.paced_until > now())`,
    [shipperId],
  );
  return new Map(
    rows.map(({ webhookId, heldBy, nextProbeAt }) => [
      webhookId,
      { heldBy, nextProbeAt: heldBy === 'CIRCUIT' ? nextProbeAt : null },
    ]),
  );
}

/** A webhook that is not called comes before its turn, and that before its rate. */
const holdOf = (holds: Holds, webhookId: string, waitsTurn: boolean) => {
  const hold = holds.get(webhookId);
  if (waitsTurn && (!hold || hold.heldBy === 'RATE')) return { heldBy: 'TURN', nextProbeAt: null };
  return hold ?? { heldBy: null, nextProbeAt: null };
};

export interface Delivery extends Omit<LogRow, 'waitsTurn'> {
  heldBy: string | null;
  nextProbeAt: Date | null;
}

/** `checkedUpTo` is the last delivery checked, if the search for an attempt stopped there before the page was full. */
interface DeliveryPage {
  deliveries: Delivery[];
  checkedUpTo: string | null;
}

/** Newest first; older ranges are read only until the page is full, or has checked enough. */
export async function listDeliveries(
  db: Database,
  shipperId: string,
  filter: LogFilter,
  beforeId: string | undefined,
  limit: number,
): Promise<DeliveryPage> {
  const none = { deliveries: [], checkedUpTo: null };
  const named = filtersByShipment(filter) ? await findFilteredShipments(db, shipperId, filter) : undefined;
  if (named === null) return none;
  const eventId = filter.eventId === undefined ? undefined : await findFilteredEvent(db, filter.eventId);
  if (eventId === null) return none;
  const { from, to } = named ? { from: named.from, to: named.before } : filter;
  const times = timesOf(eventId, { from, to: beforeItsAttempt(to, filter.attemptedTo) });
  const shipmentIds = named?.shipmentIds;
  const holds = await findHolds(db, shipperId);
  const heldWebhookIds = [...holds.keys()];
  const found: LogRow[] = [];
  let checkedUpTo: string | null = null;
  for (const range of rangesOf(times, beforeId)) {
    const query = { shipperId, filter, shipmentIds, eventId, range, beforeId, heldWebhookIds };
    const page = await readPage(db, { ...query, limit: limit - found.length });
    found.push(...page.rows);
    ({ checkedUpTo } = page);
    if (found.length === limit || checkedUpTo !== null) break;
  }
  return { deliveries: found.map((row) => withHold(row, holds)), checkedUpTo };
}

/** A delivery is made before it is attempted. Clocks may be a minute apart. */
const beforeItsAttempt = (to: Date | undefined, attemptedTo: Date | undefined) =>
  attemptedTo ? new Date(Math.min(to?.getTime() ?? Infinity, attemptedTo.getTime() + 60_000)) : to;

function timesOf(
  eventId: string | undefined,
  { from, to }: { from?: Date | undefined; to?: Date | undefined },
) {
  if (eventId === undefined) return { from, to };
  const recordedMs = timeOfId(eventId);
  return {
    from: new Date(Math.max(recordedMs, from?.getTime() ?? 0)),
    to: new Date(Math.min(recordedMs + 1, to?.getTime() ?? Infinity)),
  };
}

const withHold = ({ waitsTurn, ...row }: LogRow, holds: Holds): Delivery => ({
  ...row,
  ...(row.status === 'HELD' ? holdOf(holds, row.webhookId, waitsTurn) : { heldBy: null, nextProbeAt: null }),
});

/** Attempts are newest first. One statement, so that the two are consistent. */
export async function findDelivery(
  db: Database,
  shipperId: string,
  deliveryId: string,
  beforeAttempt?: number,
): Promise<(Delivery & { payload: string; attempts: Attempt[] }) | null> {
  const holds = await findHolds(db, shipperId);
  const attempts = `(select coalesce(json_agg(a), '[]') from (${attemptsText('$4')}) a)`;
  const rows = await db.query<LogRow & { payload: string; isErased: boolean; attempts: AttemptRow[] }>(
    'find-delivery',
    detailsOf(
      '$1',
      '$2',
      '$3',
      `, e.body as payload, e.erasure is not distinct from 'DONE' as "isErased", ${attempts} as attempts`,
    ),
    [shipperId, deliveryId, [...holds.keys()], beforeAttempt ?? null],
  );
  const [row] = rows;
  if (!row) return null;
  const { payload, isErased, attempts: attemptRows, ...delivery } = row;
  return {
    ...withHold(delivery, holds),
    payload,
    attempts: attemptRows.map((attempt) => attemptOf(attempt, isErased)),
  };
}

/** Null if the shipper has no such delivery. */
export async function findWebhookOfDelivery(
  db: Database,
  shipperId: string,
  deliveryId: string,
): Promise<string | null> {
  const [row] = await db.query<{ webhookId: string }>(
    'find-webhook-of-delivery',
    `select webhook_id as "webhookId" from (${owedByKey('$1', '$2')}) o
     union all
     select webhook_id from deliveries where shipper_id = $1 and delivery_id = $2`,
    [shipperId, deliveryId],
  );
  return row?.webhookId ?? null;
}

export interface Attempt extends Omit<AttemptDetail, 'errorDetail' | 'requestedBy'> {
  number: number;
  trigger: string;
  /** The one who asked for a redelivery; null for other attempts, and if that is not known. */
  requestedBy: 'SHIPPER' | 'OPERATOR' | null;
  startedAt: Date;
  durationMs: number | null;
  statusCode: number | null;
  errorCode: string | null;
  errorDetail: string | null;
  responseBody: string | null;
}

/** An attempt as read: `startedAt` is text if it comes as JSON. */
export type AttemptRow = Omit<Attempt, 'startedAt' | keyof AttemptDetail> & {
  startedAt: Date | string;
  detail: string | null;
};

/** The detail of an erased event is not shown, even if it is not deleted yet. */
const attemptOf = ({ detail, startedAt, ...row }: AttemptRow, isErased: boolean): Attempt => ({
  ...row,
  startedAt: new Date(startedAt),
  requestedBy: row.trigger === 'MANUAL' && detail !== null && !isErased ? 'SHIPPER' : null,
  ...(isErased ? noDetail : parseDetail(detail)),
});

export const attemptsPerPage = 100;

/**
 * The attempts of delivery $2 of shipper $1, newest first, one more than a page. `before` is a parameter: null for all.
 */
const attemptsText = (before: string) => `
  select number, trigger, started_at as "startedAt", duration_ms as "durationMs", status_code as "statusCode",
         error_code as "errorCode", response_body as "responseBody", detail
    from (
      (select number, trigger, started_at, ${outcomeColumns}
         from attempts where delivery_id = $2 and shipper_id = $1 and number < coalesce(${before}::int, 1000000000)
        order by number desc limit ${attemptsPerPage + 1})
      union all
      select attempt_count, trigger, started_at, ${outcomeColumns}
        from deliveries
       where shipper_id = $1 and delivery_id = $2 and started_at is not null
         and attempt_count < coalesce(${before}::int, 1000000000)
    ) a order by number desc limit ${attemptsPerPage + 1}`;

export async function findLastAttempt(
  db: Database,
  shipperId: string,
  deliveryId: string,
): Promise<Attempt | null> {
  const [row] = await db.query<AttemptRow>('list-attempts', attemptsText('null'), [shipperId, deliveryId]);
  return row ? attemptOf(row, false) : null;
}

/** A page reads the deliveries of at most this many shipments and of this many of their states. */
const maxShipments = 1_000;
const maxStates = 10_000;

/** Written so that the index on the identifier serves it. */
export const hasShipperTrackingId = (parameter: string) =>
  `left(shipper_tracking_id, 500) collate "C" = left(${parameter}, 500) and shipper_tracking_id = ${parameter}`;

/** The service's own id of the event; null if there is none. It may be another shipper's. */
async function findFilteredEvent(db: Database, eventId: string): Promise<string | null> {
  const [named] = await db.query<{ eventId: string }>(
    'event-by-external-id',
    `select event_id as "eventId" from external_ids where external_id = $1`,
    [eventId],
  );
  const own = eventId.toLowerCase();
  return named?.eventId ?? (isUuid(own) ? own : null);
}

const filtersByShipment = ({ trackingId, shipperTrackingId }: LogFilter): boolean =>
  trackingId !== undefined || shipperTrackingId !== undefined;

/** The time range is that of their events within the filter's; null without any. Throws INVALID_REQUEST if too many. */
export async function findFilteredShipments(
  db: Database,
  shipperId: string,
  { trackingId, shipperTrackingId, from, to }: LogFilter,
): Promise<(TimeRange & { shipmentIds: string[] }) | null> {
  const [name, named] =
    trackingId === undefined
      ? ['shipments-by-own-id', `${hasShipperTrackingId('$3')} and ($2::text is null or tracking_id = $2)`]
      : ['shipment-by-tracking-id', `tracking_id = $2 and ($3::text is null or shipper_tracking_id = $3)`];
  const [row] = await db.query<{
    shipmentIds: string[];
    states: number;
    first: string | null;
    last: string | null;
  }>(
    name,
    `with named as materialized (
       select shipment_id from shipments where shipper_id = $1 and ${named} limit $4
     )
     select (select coalesce(json_agg(shipment_id), '[]') from named) as "shipmentIds", coalesce(sum(sequence), 0)::float8 as states,
            (array_agg(first_event_id order by first_event_id))[1] as first,
            (array_agg(last_event_id order by last_event_id desc))[1] as last
       from named n
      cross join lateral (
        select sequence, first_event_id, last_event_id from shipment_progress where shipment_id = n.shipment_id limit 1) p`,
    [shipperId, trackingId ?? null, shipperTrackingId ?? null, maxShipments + 1],
  );
  const { shipmentIds, states, first, last } = row!;
  if (shipmentIds.length > maxShipments) throw tooManyShipments();
  if (states > maxStates) throw tooManyStates(trackingId === undefined ? 'shipperTrackingId' : 'trackingId');
  if (!first || !last) return null;
  return {
    shipmentIds,
    from: new Date(Math.max(from?.getTime() ?? 0, timeOfId(first))),
    before: new Date(Math.min(to?.getTime() ?? Infinity, timeOfId(last) + 1)),
  };
}

const tooManyStates = (path: string) =>
  invalidRequest([
    {
      path,
      message: `matches shipments with more than ${maxStates} states: filter by webhookId, state, from and to instead`,
    },
  ]);

const tooManyShipments = () =>
  invalidRequest([
    {
      path: 'shipperTrackingId',
      message: `matches more than ${maxShipments} shipments: filter by the trackingId of one instead`,
    },
  ]);
