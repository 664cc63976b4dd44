import type { Database } from '../../platform/database/postgres.js';
import { insertAttempts, insertCancelled, isInRangeOf, ms, sameDelivery, takeOut } from '../outbox/sql.js';
import { insertCounts } from '../stats/sql.js';

/** The events of shipments $1 whose personal data was erased, as `e`. */
const erasedEvents = `unnest($1::uuid[]) as s (shipment_id)
  cross join lateral (
    select shipper_id, event_id from events where shipment_id = s.shipment_id and erasure = 'DONE' offset 0) e`;

/** Row `d` is a delivery of event `e`. */
const ofErased = (d: string) => `${d}.shipper_id = e.shipper_id and ${d}.event_id = e.event_id
  and ${isInRangeOf(`${d}.delivery_id`, 'e.event_id')}`;

const owed = `select o.shipper_id, o.delivery_id from outbox o where ${ofErased('o')}`;
const logged = `select d.shipper_id, d.delivery_id from deliveries d where ${ofErased('d')}`;
const known = `select k.* from ${erasedEvents} cross join lateral (${owed} union all ${logged}) k`;

const holdsSomething = (row: string) =>
  `(${row}.response_body is not null or ${row}.request_headers is not null)`;

/** Webhooks for which a replay may bring back something of these shippers, or is taking it back. */
export async function findReplayed(db: Database, shipperIds: string[]): Promise<string[]> {
  const rows = await db.query<{ webhook_id: string }>(
    'find-replayed',
    `select distinct webhook_id from replays
      where (status = 'RUNNING' or withdrawing) and shipper_id = any($1::uuid[])`,
    [shipperIds],
  );
  return rows.map((row) => row.webhook_id);
}

/**
 * Takes back what was asked for by hand of erased events, attempts under way included: their results are refused from
 * then on. What somebody has locked is left. Returns the deliveries of which an attempt was under way.
 */
export async function takeBackAsked(db: Database, shipmentIds: string[]): Promise<string[]> {
  const rows = await db.query<{ delivery_id: string; number: number | null }>(
    'take-back-asked',
    `with asked as materialized (
       select r.delivery_id from (${known}) k
        cross join lateral (
          select delivery_id from redeliveries where delivery_id = k.delivery_id limit 1 for update skip locked) r
     )
     delete from redeliveries r using asked a where r.delivery_id = any(array[a.delivery_id])
     returning r.delivery_id, r.number`,
    [shipmentIds],
  );
  return rows.flatMap((row) => (row.number === null ? [] : [row.delivery_id]));
}

/**
 * Cancels what is owed of erased events, also what is being sent: the result of that attempt is refused, so nothing a
 * receiver answers is kept, and the log has it as one whose outcome is unknown. What somebody has locked is left.
 */
export async function cancelErased(
  db: Database,
  shipmentIds: string[],
  options: { leaseMs: number; byHand: string[] },
): Promise<void> {
  await db.query(
    'cancel-erased',
    `with page as materialized (
       select o.* from ${erasedEvents} cross join lateral (${owed} for update skip locked) o
     ), gone as (${takeOut('page')}), lost as (
       ${insertAttempts(`select shipper_id, delivery_id, attempt_count,
                                case when delivery_id = any($3::uuid[]) then 'MANUAL' else trigger end,
                                least(lease_until - ${ms('$2')}, now()), null, null, null, null, null, null
                           from gone where status = 'SENDING'`)}
     ), counted as (
       ${insertCounts(`select webhook_id, least(lease_until - ${ms('$2')}, now()) as started_at, trigger,
                              false as succeeded, null::int as duration_ms
                         from gone where status = 'SENDING'`)}
     )
     ${insertCancelled('gone', `'ERASED'`)}`,
    [shipmentIds, options.leaseMs, options.byHand],
  );
}

/** Erases what receivers answered to notifications of erased events, and the signatures of what these held. */
export async function eraseAnswers(db: Database, shipmentIds: string[]): Promise<void> {
  await db.query(
    'erase-answers',
    `with known as materialized (
       select d.* from ${erasedEvents} cross join lateral (${logged}) d
     ), last as (
       update deliveries d set response_body = null, request_headers = null
         from known k where ${sameDelivery('d', 'k')} and ${holdsSomething('d')}
     )
     update attempts a set response_body = null, request_headers = null
       from known k where a.delivery_id = any(array[k.delivery_id]) and ${holdsSomething('a')}`,
    [shipmentIds],
  );
}

/** Whether anything of erased events still is owed or asked for. */
export async function isErasedOwed(db: Database, shipmentIds: string[]): Promise<boolean> {
  const [row] = await db.query<{ owed: boolean }>(
    'is-erased-owed',
    `select exists (select 1 from ${erasedEvents} cross join lateral (${owed} limit 1) o)
         or exists (select 1 from (${known}) k
                     where exists (select 1 from redeliveries r where r.delivery_id = k.delivery_id)) as owed`,
    [shipmentIds],
  );
  return row!.owed;
}
