import type { Database } from '../../platform/database/postgres.js';
import type { Columns } from '../../platform/database/parameters.js';
import { firstIdOf, lowestId } from '../../platform/ids.js';
import { maxClaimedBodyBytes, type AttemptRecord } from './types.js';

/**
 * Conditions and columns that several statements share.
 *
 * PostgreSQL plans a statement by its statistics, and an outbox that was empty a minute ago may now have a hundred
 * thousand rows. So no statement leaves the planner a choice: rows are found one by one, by key.
 */

/** `expression` is in milliseconds. */
export const ms = (expression: string) => `make_interval(secs => ${expression}::float8 / 1000)`;

/**
 * Joins outbox row `row` to `given` by key. With one-element arrays the planner can join in one direction only: from
 * `given` into the index, never by reading the whole table.
 */
export const sameDelivery = (row: string, given: string) =>
  `${row}.shipper_id = any(array[${given}.shipper_id]) and ${row}.delivery_id = any(array[${given}.delivery_id])`;

/**
 * Selects what blocks `before` (webhook_id, shipment_id, sequence): earlier states of the shipment that are still owed,
 * except those that have been failing for longer than ORDER_HOLD. `w` is the webhook: ORDER_HOLD starts again when it
 * is resumed, and does not end while it is not called.
 */
export const blocker = (before: string, holdMs: string, columns = '1') => `select ${columns} from outbox b
  where b.webhook_id = ${before}.webhook_id and b.shipment_id = ${before}.shipment_id
    and b.sequence < ${before}.sequence
    and (b.first_failed_at is null or not w.probed
         or greatest(b.first_failed_at, w.called_since) > now() - ${ms(holdMs)})`;

/**
 * Outbox row `row` is overtaken if a later state of its shipment is owed to the same webhook (`laterOwed`), or was owed
 * and is finished (`laterFinished`). A replayed delivery is never overtaken: it was requested.
 */
export const laterOwed = (row: string) => `(${row}.replay_id is null and exists (
  select 1 from outbox x
   where x.webhook_id = ${row}.webhook_id and x.shipment_id = ${row}.shipment_id and x.sequence > ${row}.sequence))`;

/**
 * Reads only the months between the shipment's first and last event. `rest` continues the condition. It must order by
 * `sequence` or compare it, so that the planner uses the index by shipment.
 */
export const eventsOf = (shipmentId: string, columns: string, rest: string) => `(
  select e.* from (select shipment_id, first_event_id, last_event_id from shipment_progress
                    where shipment_id = ${shipmentId} limit 1) p
   cross join lateral (
     select ${columns} from events
      where shipment_id = p.shipment_id and event_id >= p.first_event_id and event_id <= p.last_event_id and ${rest}) e)`;

/** Bounds the search for later states: a webhook may want none of the thousands that follow. */
export const maxLaterStates = 50;

/** The log has no shipment column, so each later event is checked for a delivery to this webhook. */
export const laterFinished = (row: string) => `(${row}.replay_id is null and exists (
  select 1
    from ${eventsOf(`${row}.shipment_id`, 'event_id', `sequence > ${row}.sequence order by sequence limit ${maxLaterStates}`)} l
  cross join lateral (
    select 1 from deliveries
     where shipper_id = ${row}.shipper_id and delivery_id = delivery_id(l.event_id, ${row}.webhook_id) limit 1) d))`;

export const isInterested = (state: string, interests: string) =>
  `(${state} = any(${interests}) or '*' = any(${interests}))`;

export const firstIdInRangeOf = (eventId: string) =>
  `overlay(${eventId}::text placing '0000-000000000000' from 20)::uuid`;

/** The ids of an event's deliveries are in this range; other events' may be, too. */
export const isInRangeOf = (deliveryId: string, eventId: string) =>
  `${deliveryId} >= ${firstIdInRangeOf(eventId)}
     and ${deliveryId} <= overlay(${eventId}::text placing 'ffff-ffffffffffff' from 20)::uuid`;

/** A cancelled replay's row is not sent until the replay has given it back. */
export const isWithdrawn = (row: string) =>
  `(${row}.replay_id is not null and coalesce(
     (select status = 'CANCELLED' from replays where replay_id = ${row}.replay_id), false))`;

const inCircuit = (w: string, condition: string) =>
  `exists (select 1 from circuits c where c.webhook_id = ${w}.webhook_id and ${condition})`;

/** True if webhook `w` is neither paused, disabled nor deleted, and its shipper is not suspended. */
export const isActive = (w: string) =>
  `${w}.status = 'ACTIVE' and ${w}.deleted_at is null and not ${w}.suspended`;

/** Only an operator may resume webhook `w`. */
export const isPausedByOperator = (w: string) => `(${w}.status = 'PAUSED' and ${w}.resumes_as is not null)`;

export const isCallable = (w: string) =>
  `(${isActive(w)} and not ${inCircuit(w, 'c.open_until is not null')})`;

/** The probe may be what has waited for ORDER_HOLD. */
export const isProbed = (w: string) => `(${isActive(w)} and not ${inCircuit(w, 'c.open_until > now()')})`;

/** A healthy webhook's successes cost no statement. */
export const isTroubled = (c: string) => `(${c}.failing_since is not null or ${c}.open_until is not null)`;

/**
 * The longest due rows of a webhook, where claims are made; it misses only claims deep in a long backlog. The limit is
 * a subquery so that the planner does not know it: if PostgreSQL believes that there are no more rows, it reads and
 * sorts them all.
 */
export const frontOf = (
  webhookId: string,
  limit = '500',
) => `select shipper_id, delivery_id, status, lease_until from outbox
  where webhook_id = ${webhookId} and due_at <= now() order by due_at limit (select ${limit})`;

/** The trace of event `e` (16 bytes) and a span in it (8): one of no request has its own id for both. */
export const traceOf = (e: string) =>
  `coalesce(${e}.trace, uuid_send(${e}.event_id) || substr(uuid_send(${e}.event_id), 9))`;

export const claimColumns = `o.shipper_id as "shipperId", o.delivery_id as "deliveryId", o.webhook_id as "webhookId",
  o.shipment_id as "shipmentId", o.sequence, o.attempt_count as number, o.trigger,
  o.failure_count as "failureCount", o.revision, o.ordering = 'SHIPMENT' and o.shipment_id is not null as ordered,
  o.supersede as supersedes, o.troubled,
  case when octet_length(e.body) <= ${maxClaimedBodyBytes} or e.erasure is not null then e.body else '' end as body,
  case when octet_length(e.body) > ${maxClaimedBodyBytes} and e.erasure is null
       then json_build_object('eventId', e.event_id, 'bytes', octet_length(e.body)) end as large,
  e.erasure is not null as erased, e.recorded_at as "recordedAt",
  coalesce(e.external_id, e.event_id::text) as "eventId", ${traceOf('e')} as trace`;

const eventColumns = 'event_id, external_id, body, recorded_at, erasure, trace';
export const ofEvent = `cross join lateral (
  select ${eventColumns} from events where event_id = o.event_id limit 1) e`;

export interface Months {
  /** Part of the name of each statement with these bounds. */
  name: string;
  firstId: string;
  endId: string;
}

const dayMs = 86_400_000;
/** Claimed events are rarely older, and no clock is further ahead. */
const recentDays = { back: 7, ahead: 1 };

/** The current month (UTC), with the previous one near its beginning and the next one near its end. */
export function recentMonths(nowMs: number): Months {
  const first = new Date(nowMs - recentDays.back * dayMs);
  const last = new Date(nowMs + recentDays.ahead * dayMs);
  const from = Date.UTC(first.getUTCFullYear(), first.getUTCMonth());
  const end = Date.UTC(last.getUTCFullYear(), last.getUTCMonth() + 1);
  return { name: `${from}-${end}`, firstId: firstIdOf(from), endId: firstIdOf(end) };
}

/**
 * Like `ofEvent`, for frequent statements. The months are constants in the statement, not parameters, so it neither
 * locks nor opens the partitions of other months. Events of other months are still found.
 */
export const ofRecentEvent = ({ firstId, endId }: Months) => `cross join lateral (
  select ${eventColumns} from events where event_id = o.event_id and event_id >= '${firstId}' and event_id < '${endId}'
  union all
  select ${eventColumns} from event_of_any_month(o.event_id) where o.event_id < '${firstId}' or o.event_id >= '${endId}'
  limit 1) e`;

/** Row `d`, of the outbox or the log, is a delivery of event `e`. */
export const isDeliveryOf = (
  d: string,
  e: string,
) => `${d}.shipper_id = ${e}.shipper_id and ${d}.event_id = ${e}.event_id
  and ${isInRangeOf(`${d}.delivery_id`, `${e}.event_id`)}`;

export const owedOf = (e: string) =>
  `select o.shipper_id, o.delivery_id from outbox o where ${isDeliveryOf('o', e)}`;

export const owedTo = (webhookId: string) => `select 1 from outbox where webhook_id = ${webhookId}`;

/** At most `limit` shipments of which the webhook waits for states, among its longest due. */
export const shipmentsOwedTo = (webhookId: string, limit: number) => `
  select distinct shipment_id from (
    select shipment_id from outbox where webhook_id = ${webhookId} and due_at is not null
     order by due_at limit (select 200)) o
   where shipment_id is not null limit ${limit}`;

export const owedByKey = (shipperId: string, deliveryId: string) =>
  `select shipper_id, delivery_id, webhook_id, event_id from outbox
    where shipper_id = ${shipperId} and delivery_id = ${deliveryId}`;

export const isOwed = (given: string) => `exists (select 1 from outbox o where ${sameDelivery('o', given)})`;

export const owedSinceBefore = (time: string) =>
  `select 1 from outbox where delivery_id < uuid_floor(${time})`;

/** A row not being sent is held while it waits its turn, and while it is due to a webhook in `stopped`. */
const isHeld = (stopped: string) =>
  `(waits_turn or due_at <= now() and webhook_id = any(${stopped}::uuid[]))`;
/** A row has no planned attempt while it is held, or being sent because it was due. */
const isUnplanned = (stopped: string) => `(${isHeld(stopped)} or status = 'SENDING' and due_at <= now())`;
const shownStatus = (stopped: string) =>
  `case when status = 'SENDING' then 'SENDING' when ${isHeld(stopped)} then 'HELD' else 'PENDING' end`;

/**
 * Owed deliveries with the columns of the log, while `stopped` webhooks are not called. `condition` uses only these
 * columns.
 */
export const unfinishedDeliveries = (stopped: string, condition: string, status?: string) => `
  select shipper_id, delivery_id, event_id, webhook_id, state, ${shownStatus(stopped)} as status, null::text as reason,
         waits_turn as waits, attempt_count, case when ${isUnplanned(stopped)} then null else due_at end as next_attempt_at,
         null::timestamptz as completed_at, null::text as trigger, null::timestamptz as started_at,
         null::int as duration_ms, null::int as status_code, null::text as error_code
    from outbox where ${condition} ${status ? `and ${shownStatus(stopped)} = '${status}'` : ''}`;

/** The events of shipments $1 whose personal data is erased, as `e`. */
export const erasedEvents = `unnest($1::uuid[]) as s (shipment_id)
  cross join lateral ${eventsOf('s.shipment_id', 'shipper_id, event_id', `erasure = 'DONE' order by sequence`)} e`;

/** The status of a row without an attempt under way. */
export const unclaimedStatus = (row: string) =>
  `case when ${row}.first_failed_at is not null then 'RETRY' else 'READY' end`;

export const unclaimed = `status = ${unclaimedStatus('o')}, lease_until = null`;

/** A claim changes no indexed column, so the update is HOT. */
export const claimed = (leaseMs: string) =>
  `status = 'SENDING', attempt_count = o.attempt_count + 1, lease_until = now() + ${ms(leaseMs)}`;

/**
 * A part for `with recursive`: `owing` has the next `limit` webhooks after `after` that are owed something due now or
 * later. It reads one index entry per webhook. A row that waits its turn always has an earlier one that is due, so no
 * webhook is missed.
 */
export const owingWebhooks = (limit: string, after = `'${lowestId}'`) => `owing as (
    (select webhook_id, 1 as place from outbox where webhook_id > ${after}::uuid and due_at is not null
      order by webhook_id, due_at limit 1)
    union all
    select n.webhook_id, o.place + 1
      from owing o cross join lateral (
        select webhook_id from outbox where webhook_id > o.webhook_id and due_at is not null
         order by webhook_id, due_at limit 1) n
     where o.place < ${limit})`;

/** The log holds these of an attempt that has ended, beside its number, trigger and start. */
export const outcome = {
  duration_ms: ['int', ({ durationMs }) => durationMs],
  status_code: ['int', ({ statusCode }) => statusCode],
  error_code: ['text', ({ errorCode }) => errorCode],
  response_body: ['text', ({ responseBody }) => responseBody],
  detail: ['text', ({ detail }) => detail],
} satisfies Columns<AttemptRecord>;
const columns = Object.keys(outcome);
const parts = Object.values(outcome);

export const outcomeColumns = columns.join(', ');
export const outcomeOf = (row: string) => columns.map((column) => `${row}.${column}`).join(', ');
/** The columns of no attempt, or of one whose delivery was cancelled meanwhile. */
export const noOutcome = parts.map(([type]) => `null::${type}`).join(', ');
/** The columns of an attempt whose process or thread ended before its outcome was known. */
export const lostOutcome = columns
  .map((column, index) => (column === 'error_code' ? `'LOST'::text` : `null::${parts[index]![0]}`))
  .join(', ');
/** Parameters from `$first` on: `outcomeValues`. */
export const outcomeParameters = (first: number, toDetail: (given: string) => string) =>
  parts
    .map(([type], index) => {
      const given = `$${first + index}::${type}`;
      return columns[index] === 'detail' ? toDetail(given) : given;
    })
    .join(', ');
/** The values, in the order of the columns. */
export const outcomeValues = (attempt: AttemptRecord): unknown[] => parts.map(([, value]) => value(attempt));

const logColumns = `shipper_id, delivery_id, event_id, webhook_id, state, status, reason, attempt_count, completed_at,
  trigger, started_at, ${outcomeColumns}`;

/** The same statement must write the rows into the log. */
export const takeOut = (given: string) =>
  `delete from outbox o using ${given} g where ${sameDelivery('o', 'g')} returning o.*`;

/** `source` has the columns in order. A delivery is never in both; `on conflict` would cost a third more. */
export const insertIntoLog = (source: string) => `insert into deliveries (${logColumns}) ${source}`;

/** A delivery's last attempt is part of its row in the log. */
export const insertAttempts = (source: string) =>
  `insert into attempts (shipper_id, delivery_id, number, trigger, started_at, ${outcomeColumns}) ${source}
   on conflict do nothing`;

/** The hour in UTC, whatever the session's time zone. */
export const hourOf = (timestamp: string) => `date_bin('1 hour', ${timestamp}, timestamptz 'epoch')`;

/**
 * Counts attempts by webhook and hour, without tests. The statement that writes the attempts into the log includes this,
 * so that both commit together. `attempts` selects webhook_id, started_at, trigger, succeeded and duration_ms (null if
 * the outcome is unknown).
 */
export const insertCounts = (attempts: string) => `
  insert into attempt_counts (webhook_id, hour, succeeded, failed, durations_ms)
  select webhook_id, ${hourOf('started_at')}, count(*) filter (where succeeded), count(*) filter (where not succeeded),
         array_agg(duration_ms) filter (where duration_ms is not null)
    from (${attempts}) a
   where trigger <> 'TEST'
   group by 1, 2`;

const movesKey = `hashtextextended('parcelhook-moves', 0) # hashtextextended(webhook_id, 0)`;

/** Locks as `lockMoves` does, but only webhooks that nobody has locked; returns these. */
export async function tryLockMoves(tx: Database, webhookIds: string[]): Promise<string[]> {
  const rows = await tx.query<{ webhook_id: string }>(
    'try-lock-moves',
    `select webhook_id from (select unnest($1::text[]) as webhook_id) w
      where pg_try_advisory_xact_lock(${movesKey})`,
    [webhookIds],
  );
  return rows.map((row) => row.webhook_id);
}

/** Lock in a statement of its own, before the one that moves deliveries between log and outbox. */
export async function lockMoves(tx: Database, webhookIds: string[]): Promise<void> {
  await tx.query(
    'lock-moves',
    `select pg_advisory_xact_lock(${movesKey})
       from (select unnest($1::text[]) as webhook_id order by 1) w`,
    [webhookIds],
  );
}
