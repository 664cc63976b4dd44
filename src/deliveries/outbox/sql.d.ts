/**
 * Conditions and columns that several statements share, each with one owner.
 *
 * PostgreSQL plans a statement by what it believes of the tables, and an outbox that was empty a minute ago may hold a
 * hundred thousand rows now. So no statement leaves it a choice: rows are looked up one by one, by key.
 */
/** Milliseconds, given as a parameter or an expression, as an interval. */
export declare const ms: (expression: string) => string;
/**
 * Joins outbox row `row` to `given` by key. Written with one-element arrays the join can be made in one direction only:
 * from what is given into the index, never by reading the whole table.
 */
export declare const sameDelivery: (row: string, given: string) => string;
/**
 * Exists while something of the shipment blocks what comes after `before` (webhook_id, shipment_id, sequence): an
 * earlier state that is still owed, but not one that has been failing for longer than ORDER_HOLD. `w` is the webhook: the
 * hold begins anew when it is resumed, so while it is not called none ends.
 */
export declare const blocker: (before: string, holdMs: string) => string;
/** Nobody has stopped the webhook of row `w`, nor suspended its shipper. */
export declare const isActive: (w: string) => string;
/** Whether the webhook of row `w` is called now: nobody has stopped it, and its circuit is closed. */
export declare const isCallable: (w: string) => string;
/** Whether it is called, or given a rest that is over: what has waited for ORDER_HOLD may then be the probe. */
export declare const isProbed: (w: string) => string;
/** Whether circuit `c`, if there is one, wants to know of successes too: of a webhook that is well they cost nothing. */
export declare const isTroubled: (c: string) => string;
/** What a claim tells of outbox row `o`, with webhook `w` and circuit `c`; the event comes by `ofEvent`. */
export declare const claimColumns = "o.shipper_id as \"shipperId\", o.delivery_id as \"deliveryId\", o.webhook_id as \"webhookId\",\n  o.shipment_id as \"shipmentId\", o.sequence, o.attempt_count as number, o.trigger,\n  o.failure_count as \"failureCount\", o.revision, o.ordering = 'SHIPMENT' and o.shipment_id is not null as ordered,\n  o.supersede as supersedes, o.troubled, e.body, e.erasure is not null as erased, e.recorded_at as \"recordedAt\",\n  coalesce(e.external_id, e.event_id::text) as \"eventId\"";
/** The event of row `o`, as `e`. */
export declare const ofEvent = "cross join lateral (\n  select event_id, external_id, body, recorded_at, erasure from events where event_id = o.event_id limit 1) e";
/** What a row is while no attempt is under way. */
export declare const restingStatus: (row: string) => string;
/**
 * Writes finished deliveries into the log: `source` selects its columns in their order. A delivery is in the outbox or
 * in the log, never in both; being ready for the opposite would cost every one of them a third more.
 */
export declare const insertIntoLog: (source: string) => string;
/** Writes rows taken out of the outbox into the log as cancelled; the attempts they had are in `attempts`. */
export declare const insertCancelled: (rows: string, reason: string) => string;
/** Writes attempts that are not a delivery's last one. */
export declare const insertAttempts: (source: string) => string;
