import type { Database } from '../../platform/database/postgres.js';
import { erasedEvents, isDeliveryOf, owedOf, sameDelivery } from '../outbox/sql.js';

const logged = `select d.shipper_id, d.delivery_id from deliveries d where ${isDeliveryOf('d', 'e')}`;
const known = `select k.* from ${erasedEvents} cross join lateral (${owedOf('e')} union all ${logged}) k`;

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
    `select exists (select 1 from ${erasedEvents} cross join lateral (${owedOf('e')} limit 1) o)
         or exists (select 1 from (${known}) k
                     where exists (select 1 from redeliveries r where r.delivery_id = k.delivery_id)) as owed`,
    [shipmentIds],
  );
  return row!.owed;
}
