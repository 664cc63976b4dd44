import type { Database } from '../../platform/database/postgres.js';
import { firstIdInRangeOf, isInRangeOf, unfinishedDeliveries, withoutQuerySql } from '../../engine/engine.js';
import { firstIdOf, timeOfId } from '../../platform/ids.js';

const dayMs = 86_400_000;
/** How far back each range reaches: each day is a partition. */
const reachesMs = [dayMs, 7 * dayMs, Infinity];
/** Another host's clock may be ahead. */
const clockLeewayMs = 3_600_000;
const maxDays = 3;

export interface TimeRange {
  from: Date;
  before: Date;
}

/**
 * The ranges in which to read a page of the log, newest first, without gaps: `from` (or 1970) to `to` (excluded, or
 * now), no later than the delivery `beforeId`. The newest day nearly always fills the page.
 */
export function rangesOf(
  { from, to }: { from?: Date | undefined; to?: Date | undefined },
  beforeId: string | undefined,
): TimeRange[] {
  const oldest = from?.getTime() ?? 0;
  let before = Math.min(
    to?.getTime() ?? Infinity,
    beforeId === undefined ? Infinity : timeOfId(beforeId) + 1,
    Date.now() + clockLeewayMs,
  );
  const newest = Math.min(before, Date.now());
  const ranges: TimeRange[] = [];
  for (const reachMs of reachesMs) {
    const start = Math.max(oldest, newest - reachMs);
    ranges.push({ from: new Date(start), before: new Date(before) });
    if (start === oldest) break;
    before = start;
  }
  return ranges;
}

/**
 * The days (UTC) of a range as bounds of ids; null if there are too many. Written into the statement instead of passed
 * as parameters, they limit its plan to a few partitions: 5 ms instead of 50 whenever statistics have changed.
 */
export function daysOf(range: TimeRange): { firstId: string; endId: string; today: boolean } | null {
  const first = Math.floor(range.from.getTime() / dayMs);
  const end = Math.ceil(range.before.getTime() / dayMs);
  if (end - first > maxDays) return null;
  const today = Math.floor(Date.now() / dayMs);
  // All reads of the newest pages within a day share one statement.
  const newest = first >= today - 1 && end <= today + 2;
  const [from, to] = newest ? [today - 1, today + 2] : [first, end];
  return { firstId: firstIdOf(from * dayMs), endId: firstIdOf(to * dayMs), today: newest };
}

export const deliveryStatuses = ['PENDING', 'SENDING', 'HELD', 'SUCCEEDED', 'FAILED', 'CANCELLED'] as const;
type DeliveryStatus = (typeof deliveryStatuses)[number];

export interface LogFilter {
  webhookId?: string | undefined;
  trackingId?: string | undefined;
  /** The shipper's own identifier; many shipments may have the same. */
  shipperTrackingId?: string | undefined;
  /** The id that the delivery shows: the caller's own, if it sent one. */
  eventId?: string | undefined;
  state?: string | undefined;
  status?: DeliveryStatus | 'UNFINISHED' | undefined;
  statusCode?: number | undefined;
  errorCode?: string | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
  attemptedFrom?: Date | undefined;
  attemptedTo?: Date | undefined;
  attemptFailed?: boolean | undefined;
}

export interface LogRow {
  deliveryId: string;
  webhookId: string;
  targetAddress: string;
  eventId: string;
  trackingId: string | null;
  shipperTrackingId: string | null;
  state: string;
  status: DeliveryStatus;
  reason: string | null;
  waitsTurn: boolean;
  attemptCount: number;
  lastAttempt: {
    startedAt: string;
    durationMs: number | null;
    statusCode: number | null;
    errorCode: string | null;
  } | null;
  nextAttemptAt: Date | null;
  createdAt: Date;
  completedAt: Date | null;
}

/** `beforeId` and later deliveries are on earlier pages. */
export interface PageQuery {
  shipperId: string;
  filter: LogFilter;
  shipmentIds: string[] | undefined;
  eventId: string | undefined;
  range: TimeRange;
  beforeId: string | undefined;
  limit: number;
  heldWebhookIds: string[];
}

const maxChecked = 5_000;
/** At least so many of each kind are checked, however many kinds there are. */
const minCheckedOfKind = 200;

const seeksAttempt = ({ statusCode, errorCode, attemptedFrom, attemptedTo, attemptFailed }: LogFilter) =>
  [statusCode, errorCode, attemptedFrom, attemptedTo, attemptFailed].some((one) => one !== undefined);

export interface LogPage {
  rows: LogRow[];
  /** Where the search stopped because it had checked enough; null if nothing of the range is left. */
  checkedUpTo: string | null;
}

const loggedColumns = `shipper_id, delivery_id, event_id, webhook_id, state, status, reason, false as waits, attempt_count,
  null::timestamptz as next_attempt_at, completed_at, trigger, started_at, duration_ms, status_code, error_code`;

/** Columns shown of rows `d`. A finished delivery has its last attempt in its row; that of others is in `attempts`. */
const shown = `d.delivery_id as "deliveryId", d.webhook_id as "webhookId", ${withoutQuerySql('w.target_address')} as "targetAddress",
  coalesce(e.external_id, e.event_id::text) as "eventId", s.tracking_id as "trackingId",
  s.shipper_tracking_id as "shipperTrackingId", d.state, d.status, d.reason, d.waits as "waitsTurn",
  d.attempt_count as "attemptCount", d.next_attempt_at as "nextAttemptAt", e.recorded_at as "createdAt",
  d.completed_at as "completedAt",
  case when d.started_at is not null or a.started_at is not null then json_build_object(
    'startedAt', coalesce(d.started_at, a.started_at),
    'durationMs', case when d.started_at is not null then d.duration_ms else a.duration_ms end,
    'statusCode', case when d.started_at is not null then d.status_code else a.status_code end,
    'errorCode', case when d.started_at is not null then d.error_code else a.error_code end) end as "lastAttempt"`;
const lastEarlierAttempt = (inRange: string) => `left join lateral (
    select started_at, duration_ms, status_code, error_code from attempts
     where d.started_at is null and delivery_id = d.delivery_id and ${inRange} order by number desc limit 1) a on true`;

/** `inRange` bounds the ids of events: they begin with the same bytes as those of their deliveries. */
const joins = (
  inRange: string,
) => `cross join lateral (select target_address from webhooks where webhook_id = d.webhook_id limit 1) w
  cross join lateral (
    select event_id, external_id, shipment_id, sequence, recorded_at, body, erasure, trace from events
     where event_id = d.event_id and ${inRange} limit 1) e
  left join lateral (
    select tracking_id, shipper_tracking_id from shipments where shipment_id = e.shipment_id limit 1) s on true
  ${lastEarlierAttempt('true')}`;

export const detailsOf = (shipperId: string, deliveryId: string, stopped: string, more = '') => {
  const condition = `shipper_id = ${shipperId} and delivery_id = ${deliveryId}`;
  return `select ${shown}${more} from (
     ${unfinishedDeliveries(stopped, condition)}
     union all
     select ${loggedColumns} from deliveries where ${condition}
   ) d ${joins(isInRangeOf('event_id', `${deliveryId}::uuid`))}`;
};

const finishedStatuses: readonly string[] = ['SUCCEEDED', 'FAILED', 'CANCELLED'];
const isFinished = (status: string | undefined) => status !== undefined && finishedStatuses.includes(status);

/**
 * The newest matches of a range, from the outbox and the log. Indexes of the log lead to each kind of delivery (status
 * and state) of a shipper or a webhook. The newest of every kind that the filter allows are read, then the newest of
 * those, so the cost does not depend on the number of matches. One statement: a delivery settled meanwhile is in one of
 * the two.
 *
 * No index has the outcome or the time of an attempt, so it is looked for: in the newest `maxChecked` owed deliveries
 * and as many finished ones, or in that many of all kinds together. The page ends where the first of these ends that
 * has more.
 */
export async function readPage(db: Database, query: PageQuery): Promise<LogPage> {
  const { filter, range } = query;
  const days = daysOf(range);
  const ofDays = (id: string) => (days ? `${id} >= '${days.firstId}' and ${id} < '${days.endId}'` : 'true');
  const source = sourceOf(query);
  const owner = filter.webhookId === undefined ? 'shipper' : 'webhook';
  const looked = seeksAttempt(filter) ? '-attempt' : '';
  const rows = await db.query<LogRow & { checkedUpTo: string | null }>(
    nameOf(`list-${source}-${owner}-${filter.status ?? 'any'}${looked}`, days),
    pageText(source, filter, {
      inRange: `delivery_id >= uuid_floor($2) and delivery_id < least($3::uuid, uuid_floor($4))`,
      ofDays: ofDays('delivery_id'),
      ofTheirEvents: `event_id >= uuid_floor($2) and event_id < uuid_floor($4) and ${ofDays('event_id')}`,
    }),
    [
      query.shipperId,
      range.from,
      query.beforeId ?? null,
      range.before,
      query.limit,
      query.heldWebhookIds,
      filter.webhookId ?? null,
      filter.state ?? null,
      query.shipmentIds ?? null,
      query.eventId ?? null,
      filter.statusCode ?? null,
      filter.errorCode ?? null,
      maxChecked,
      filter.attemptedFrom ?? null,
      filter.attemptedTo ?? null,
      filter.attemptFailed ?? null,
    ],
  );
  return {
    rows: rows.flatMap(({ checkedUpTo: _, ...row }) => ((row.deliveryId as string | null) ? [row] : [])),
    checkedUpTo: rows[0]?.checkedUpTo ?? null,
  };
}

/** Statements for the newest days are prepared; others are planned each time. */
const nameOf = (name: string, days: ReturnType<typeof daysOf>) =>
  days && !days.today ? '' : `${name}-${days?.firstId.slice(0, 13) ?? 'all'}`;

type Source = 'event' | 'shipments' | 'owed' | 'kinds-of-state' | 'kinds' | 'all';

/** `all` if the filter excludes nothing, so that the order alone is enough. */
function sourceOf({ eventId, shipmentIds, filter: { webhookId, status, state } }: PageQuery): Source {
  if (eventId !== undefined) return 'event';
  if (shipmentIds !== undefined) return 'shipments';
  if (status !== undefined && !isFinished(status)) return 'owed';
  if (state !== undefined) return 'kinds-of-state';
  return webhookId === undefined && status === undefined ? 'all' : 'kinds';
}

function kindsText(source: Source, { status, webhookId }: LogFilter, ofDays: string): string {
  if (source === 'kinds-of-state') {
    const statuses = status ? [status] : finishedStatuses;
    return `select status, $8::text as state from unnest(array['${statuses.join("', '")}']) as status`;
  }
  // If a status is given, comparing (status, state) would go on into the kinds of other statuses.
  const [order, bound] = status ? ['state', `status = '${status}'`] : ['status, state', 'true'];
  const beyond = status ? 'state > k.state' : '(status, state) > (k.status, k.state)';
  const next = (after: string) => `select status, state from deliveries
    where ${ownerOf(webhookId)} and ${bound} and ${ofDays} and ${after} order by ${order} limit 1`;
  return `(${next('true')})
    union all
    select n.status, n.state from kinds k cross join lateral (${next(beyond)}) n`;
}

/** The condition on the owner of the log, written so that only the intended index serves it. */
const ownerOf = (webhookId: string | undefined) =>
  webhookId === undefined
    ? 'shipper_id = $1'
    : `webhook_id = $7 and exists (select 1 from webhooks where webhook_id = $7 and shipper_id = $1)`;

interface PageRange {
  /** Conditions on the ids of deliveries: by parameters, and by constants that limit the plan. */
  inRange: string;
  ofDays: string;
  ofTheirEvents: string;
}

function pageText(source: Source, filter: LogFilter, { inRange, ofDays, ofTheirEvents }: PageRange): string {
  const { webhookId } = filter;
  const status = filter.status === 'UNFINISHED' ? undefined : filter.status;
  const isSought = seeksAttempt(filter);
  const owed = unfinishedDeliveries(
    '$6',
    `shipper_id = $1 and ${inRange} and ($7::uuid is null or webhook_id = $7) and ($8::text is null or state = $8)`,
    status,
  );
  const logged = (owner: string) =>
    `select ${loggedColumns} from deliveries where ${owner} and ${inRange} and ${ofDays}`;
  const most = isSought ? '(select of_part from share)' : '$5';
  const newest = `order by delivery_id desc limit ${most}`;
  const byKinds = source === 'kinds' || source === 'kinds-of-state';
  const ofKinds = `select k.status || ' ' || k.state as part, f.* from kinds k
    cross join lateral (
      ${logged(ownerOf(webhookId))} and status = k.status and state = k.state ${newest}) f`;
  const ofLog = byKinds
    ? ofKinds
    : `select 'log' as part, f.* from (${logged('shipper_id = $1')} ${newest}) f`;
  const found =
    source === 'event' || source === 'shipments'
      ? `select 'log' as part, f.* from (${ofEvents(events[source], webhookId, most, [
          owed,
          `${logged('shipper_id = $1')} and ($7::uuid is null or webhook_id = $7) and ($8::text is null or state = $8)
            ${filter.status ? `and status = '${filter.status}'` : ''}`,
        ])}) f ${newest}`
      : `select 'owed' as part, f.* from (${owed} ${isFinished(status) ? 'and false' : newest}) f
         ${source === 'owed' ? '' : `union all ${ofLog}`}`;
  return `with recursive given as (
      select $6::uuid[], $7::uuid, $8::text, $9::uuid[], $10::uuid, $11::int, $12::text, $13::int,
        $14::timestamptz, $15::timestamptz, $16::bool),
    ${byKinds ? `kinds as (${kindsText(source, filter, ofDays)}),` : ''}
    ${isSought ? `share as materialized (${byKinds ? shareOfKind : 'select $13::int as of_part'}),` : ''}
    found as materialized (${found}),
    ${
      isSought
        ? `checked as materialized (${checkedText}),
    page as materialized (
      select d.* from checked cross join found d ${lastEarlierAttempt(ofDays)}
       where d.delivery_id >= coalesce(up_to, uuid_floor('epoch')) and ${hasOutcome} and ${isAttemptedSo(ofDays)}
       order by d.delivery_id desc limit $5)
    select ${shown}, up_to as "checkedUpTo" from checked left join (page d ${joins(ofTheirEvents)}) on true`
        : `page as materialized (select * from found ${newest})
    select ${shown}, null::uuid as "checkedUpTo" from page d ${joins(ofTheirEvents)}`
    }
    order by d.delivery_id desc`;
}

const shareOfKind = `select greatest($13::int / (count(*) + 1), ${minCheckedOfKind}) as of_part from kinds`;

/** The delivery up to which everything has been read: the newest end of those parts that have more. */
const checkedText = `select (
  select last from (
    select (array_agg(delivery_id order by delivery_id))[1] as last from found
     group by part having count(*) >= (select of_part from share)) ends
   order by last desc limit 1) as up_to`;

const hasOutcome = `($11::int is null or coalesce(d.status_code, a.status_code) = $11)
  and ($12::text is null or coalesce(d.error_code, a.error_code) = $12)`;

/** Matches attempts that the statistics count: all but tests. One without an outcome, such as an erased one, failed. */
const isSo = (a: string) =>
  `${a}.trigger <> 'TEST' and ${a}.started_at >= coalesce($14, '-infinity') and ${a}.started_at < coalesce($15, 'infinity')
    and ($16 is null or (${a}.error_code is not null or ${a}.status_code is null) = $16)`;
/** One attempt must meet all conditions. */
const isAttemptedSo = (inRange: string) => `(coalesce($14, $15) is null and $16 is null or ${isSo('d')}
  or exists (select from attempts b where delivery_id = d.delivery_id and ${inRange} and ${isSo('b')}))`;

const events = {
  event: `select event_id from events
     where event_id = $10 and shipper_id = $1 and event_id >= uuid_floor($2) and event_id < uuid_floor($4)
       and ($9::uuid[] is null or shipment_id = any($9))`,
  shipments: `select e.event_id from unnest($9::uuid[]) as named (shipment_id)
   cross join lateral (select event_id from events
     where shipment_id = named.shipment_id and event_id >= uuid_floor($2) and event_id < uuid_floor($4)
       and ($8::text is null or state = $8)) e`,
};

/**
 * A page of the deliveries of these events, in any order: those of the newest events. Ids of deliveries begin as that
 * of their event, so no other delivery comes before them; events that begin alike are read together.
 */
const ofEvents = (events: string, webhookId: string | undefined, most: string, sources: string[]) => {
  const isTheirs =
    webhookId === undefined
      ? isInRangeOf('delivery_id', 'e.event_id')
      : 'delivery_id = delivery_id(e.event_id, $7)';
  return `
  select f.* from (select event_id, ${firstIdInRangeOf('event_id')} as first_id from (${events}) e order by first_id desc) e
   cross join lateral (
     ${sources.map((source) => `(${source} and ${isTheirs} and event_id = e.event_id)`).join(' union all ')}) f
   order by e.first_id desc fetch first ${most} rows with ties`;
};
