/**
 * Conditions and columns that several statements share, each with one owner.
 *
 * PostgreSQL plans a statement by what it believes of the tables, and an outbox that was empty a minute ago may hold a
 * hundred thousand rows now. So no statement leaves it a choice: rows are looked up one by one, by key.
 */

/** Milliseconds, given as a parameter or an expression, as an interval. */
export const ms = (expression: string) => `make_interval(secs => ${expression}::float8 / 1000)`;

/**
 * Joins outbox row `row` to `given` by key. Written with one-element arrays the join can be made in one direction only:
 * from what is given into the index, never by reading the whole table.
 */
export const sameDelivery = (row: string, given: string) =>
  `${row}.shipper_id = any(array[${given}.shipper_id]) and ${row}.delivery_id = any(array[${given}.delivery_id])`;

/**
 * Exists while something of the shipment blocks what comes after `before` (webhook_id, shipment_id, sequence): an
 * earlier state that is still owed, but not one that has been failing for longer than ORDER_HOLD. `w` is the webhook: the
 * hold begins anew when it is resumed, so while it is not called none ends.
 */
export const blocker = (before: string, holdMs: string) => `select 1 from outbox b
  where b.webhook_id = ${before}.webhook_id and b.shipment_id = ${before}.shipment_id
    and b.sequence < ${before}.sequence
    and (b.first_failed_at is null or not w.probed
         or greatest(b.first_failed_at, w.called_since) > now() - ${ms(holdMs)})`;

/**
 * Exists where outbox row `row` was overtaken: a later state of its shipment was owed to the same webhook, delivered or
 * not. What a replay has brought back was asked for, although there are later ones.
 */
export const overtaker = (row: string) => `select 1 from events l
  where ${row}.replay_id is null and l.shipment_id = ${row}.shipment_id and l.sequence > ${row}.sequence
    and (exists (select 1 from outbox x where x.shipper_id = ${row}.shipper_id
                    and x.delivery_id = delivery_id(l.event_id, ${row}.webhook_id))
         or exists (select 1 from deliveries d where d.shipper_id = ${row}.shipper_id
                       and d.delivery_id = delivery_id(l.event_id, ${row}.webhook_id)))`;

/** Whether state `state` is one of the `interests` of a webhook. */
export const isInterested = (state: string, interests: string) =>
  `(${state} = any(${interests}) or '*' = any(${interests}))`;

/** The ids of the deliveries of an event are in this range, as another event's may be. */
export const isInRangeOf = (deliveryId: string, eventId: string) =>
  `${deliveryId} >= overlay(${eventId}::text placing '0000-000000000000' from 20)::uuid
     and ${deliveryId} <= overlay(${eventId}::text placing 'ffff-ffffffffffff' from 20)::uuid`;

const inCircuit = (w: string, condition: string) =>
  `exists (select 1 from circuits c where c.webhook_id = ${w}.webhook_id and ${condition})`;
/** Nobody has stopped the webhook of row `w`, nor suspended its shipper. */
export const isActive = (w: string) =>
  `${w}.status = 'ACTIVE' and ${w}.deleted_at is null and not ${w}.suspended`;

/** Whether the webhook of row `w` is called now: nobody has stopped it, and its circuit is closed. */
export const isCallable = (w: string) =>
  `(${isActive(w)} and not ${inCircuit(w, 'c.open_until is not null')})`;

/** Whether it is called, or given a rest that is over: what has waited for ORDER_HOLD may then be the probe. */
export const isProbed = (w: string) => `(${isActive(w)} and not ${inCircuit(w, 'c.open_until > now()')})`;

/** Whether circuit `c`, if there is one, wants to know of successes too: of a webhook that is well they cost nothing. */
export const isTroubled = (c: string) => `(${c}.failing_since is not null or ${c}.open_until is not null)`;

/** What a claim tells of outbox row `o`, with webhook `w` and circuit `c`; the event comes by `ofEvent`. */
export const claimColumns = `o.shipper_id as "shipperId", o.delivery_id as "deliveryId", o.webhook_id as "webhookId",
  o.shipment_id as "shipmentId", o.sequence, o.attempt_count as number, o.trigger,
  o.failure_count as "failureCount", o.revision, o.ordering = 'SHIPMENT' and o.shipment_id is not null as ordered,
  o.supersede as supersedes, o.troubled, e.body, e.erasure is not null as erased, e.recorded_at as "recordedAt",
  coalesce(e.external_id, e.event_id::text) as "eventId"`;

/** The event of row `o`, as `e`. */
export const ofEvent = `cross join lateral (
  select event_id, external_id, body, recorded_at, erasure from events where event_id = o.event_id limit 1) e`;

/** What a row is while no attempt is under way. */
export const restingStatus = (row: string) =>
  `case when ${row}.first_failed_at is not null then 'RETRY' else 'READY' end`;

const logColumns = `shipper_id, delivery_id, event_id, webhook_id, state, status, reason, attempt_count, completed_at,
  trigger, started_at, duration_ms, status_code, error_code, response_body, request_headers`;

/** Takes the rows that `given` names out of the outbox; the statement that does so writes them into the log. */
export const takeOut = (given: string) =>
  `delete from outbox o using ${given} g where ${sameDelivery('o', 'g')} returning o.*`;

/**
 * Writes finished deliveries into the log: `source` selects its columns in their order. A delivery is in the outbox or
 * in the log, never in both; being ready for the opposite would cost every one of them a third more.
 */
export const insertIntoLog = (source: string) => `insert into deliveries (${logColumns}) ${source}`;

/** Writes rows taken out of the outbox into the log as cancelled; the attempts they had are in `attempts`. */
export const insertCancelled = (rows: string, reason: string) =>
  insertIntoLog(`select shipper_id, delivery_id, event_id, webhook_id, state, 'CANCELLED', ${reason}, attempt_count,
    now(), null, null, null, null, null, null, null from ${rows}`);

/** Writes attempts that are not a delivery's last one. */
export const insertAttempts = (source: string) =>
  `insert into attempts (shipper_id, delivery_id, number, trigger, started_at, duration_ms, status_code, error_code,
                         response_body, request_headers) ${source} on conflict do nothing`;
