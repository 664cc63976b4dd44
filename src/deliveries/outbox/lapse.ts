import type { Database } from '../../platform/database/postgres.js';
import { insertCounts } from '../stats/sql.js';
import { atRest, insertAttempts, insertIntoLog, ms, sameDelivery } from './sql.js';
import { keysInOrder, type RowKey, type Turn } from './types.js';

/**
 * Takes up those of the given claims whose lease has run out. Their attempts are recorded without an outcome, with the
 * time of the claim or of the last renewal as their start. A test ends with that; every other delivery is due again.
 * Manual attempts are left to `takeLapsedRedeliveries`. Returns the webhooks, the shipments and the number of
 * deliveries that are due again.
 */
export async function takeLapsed(
  db: Database,
  keys: RowKey[],
  options: { leaseMs: number; byHandLeaseMs: number },
): Promise<{ webhookIds: string[]; turns: Turn[]; count: number }> {
  const rows = await db.query<{ webhookId: string; shipmentId: string | null }>(
    'take-lapsed',
    `with lapsed as materialized (
       select o.*, o.lease_until - case o.trigger when 'TEST' then ${ms('$4')} else ${ms('$3')} end as began_at
         from unnest($1::uuid[], $2::uuid[]) as p (shipper_id, delivery_id) cross join lateral (
         select * from outbox o
          where o.shipper_id = p.shipper_id and o.delivery_id = p.delivery_id
            and o.status = 'SENDING' and o.lease_until <= now()
            and not exists (select 1 from redeliveries r where r.delivery_id = o.delivery_id and r.lease_until is not null)
          limit 1 for update skip locked) o
     ), over as (
       delete from outbox o using lapsed l where l.trigger = 'TEST' and ${sameDelivery('o', 'l')}
       returning o.*, l.began_at
     ), logged as (
       ${insertIntoLog(`select shipper_id, delivery_id, event_id, webhook_id, state, 'FAILED', null, attempt_count, now(),
                               trigger, began_at, null, null, null, null, null, null from over`)}
       on conflict do nothing -- a test is sent once: what the log already has of it stays
     ), lost as (
       ${insertAttempts(`select shipper_id, delivery_id, attempt_count, trigger, began_at, null, null, null,
                                null, null, null from lapsed where trigger <> 'TEST'`)}
     ), counted as (
       ${insertCounts(`select webhook_id, began_at as started_at, trigger, false as succeeded,
                              null::int as duration_ms from lapsed`)}
     )
     update outbox o set ${atRest}, due_at = coalesce(o.due_at, now())
       from lapsed l where l.trigger <> 'TEST' and ${sameDelivery('o', 'l')}
     returning o.webhook_id as "webhookId", o.shipment_id as "shipmentId"`,
    [...keysInOrder(keys), options.leaseMs, options.byHandLeaseMs],
  );
  return {
    webhookIds: [...new Set(rows.map(({ webhookId }) => webhookId))],
    turns: rows.flatMap(({ webhookId, shipmentId }) =>
      shipmentId === null ? [] : [{ webhookId, shipmentId }],
    ),
    count: rows.length,
  };
}

/**
 * A difference smaller than this is not taken for a change of the clock.
 *
 * PostgreSQL's clock decides what is due. If it is set back, everything scheduled before that would be late by as much.
 * So each row that waits records how long it should wait (`retry_wait`, `open_wait`; leases and probes have a fixed
 * length), and nothing may be scheduled further ahead than that.
 */
export const clockToleranceMs = 1_000;

/** Whether a moment is further ahead than `wait`, after which it was scheduled to come. */
export const isTooFar = (moment: string, wait: string) =>
  `coalesce(${moment} > now() + ${wait} + interval '${clockToleranceMs} ms', false)`;

/** How far ahead a row's retry may be; 0 for a row that has not failed. */
const longestWait = (row: string) => `coalesce(${row}.retry_wait, interval '0')`;

export const isRowAhead = (o: string, longestLeaseMs: string) =>
  `(${isTooFar(`${o}.due_at`, longestWait(o))} or ${isTooFar(`${o}.scheduled_at`, longestWait(o))}
    or ${isTooFar(`${o}.lease_until`, ms(longestLeaseMs))} or ${isTooFar(`${o}.first_failed_at`, `interval '0'`)})`;

/**
 * Corrects rows that are too far ahead because PostgreSQL's clock was set back. If it is known by how much
 * (`putBackMs`), they are moved back by that. Afterwards no row is further ahead than its own wait, no lease is longer
 * than the longest one, and no failure is later than now. So nothing is sent early, and nothing is late by more than
 * its own wait. Returns the rows' webhooks.
 */
export async function putRowsRight(
  db: Database,
  keys: RowKey[],
  { putBackMs, longestLeaseMs }: { putBackMs: number; longestLeaseMs: number },
): Promise<string[]> {
  const back = (moment: string) =>
    `case when ${isTooFar(moment, longestWait('o'))}
          then least(${moment} - ${ms('$3')}, now() + ${longestWait('o')}) else ${moment} end`;
  const rows = await db.query<{ webhook_id: string }>(
    'put-rows-right',
    `with ahead as materialized (
       select o.* from unnest($1::uuid[], $2::uuid[]) as p (shipper_id, delivery_id) cross join lateral (
         select shipper_id, delivery_id, webhook_id from outbox o
          where o.shipper_id = p.shipper_id and o.delivery_id = p.delivery_id and ${isRowAhead('o', '$4')}
          limit 1 for no key update skip locked) o
     ), called as (
       update webhooks set called_since = now()
        where webhook_id = any(array(select webhook_id from ahead)) and ${isTooFar('called_since', `interval '0'`)}
     )
     update outbox o
        set due_at = ${back('o.due_at')}, scheduled_at = ${back('o.scheduled_at')},
            first_failed_at = case when o.first_failed_at > now()
                                   then least(o.first_failed_at - ${ms('$3')}, now()) else o.first_failed_at end,
            lease_until = case when o.lease_until is not null then least(o.lease_until, now() + ${ms('$4')}) end
       from ahead a where ${sameDelivery('o', 'a')}
     returning o.webhook_id`,
    [...keysInOrder(keys), putBackMs, longestLeaseMs],
  );
  return [...new Set(rows.map((row) => row.webhook_id))];
}
