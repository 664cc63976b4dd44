import type { Database } from '../../platform/database/postgres.js';
import {
  blocker,
  frontOf,
  isActive,
  isCallable,
  isProbed,
  laterFinished,
  laterOwed,
  ms,
  owingWebhooks,
  sameDelivery,
} from './sql.js';
import { inLockOrder, keyRows, type Due, type RowKey, type Turn } from './types.js';
import { lowestId } from '../../platform/ids.js';

export interface Findings {
  /** Null after the last page. */
  next: RowKey | null;
  databaseMs: number;
  lapsed: RowKey[];
  /** Rows scheduled too far ahead because the clock was set back. */
  ahead: RowKey[];
  /** Callable webhooks with a delivery that has been due too long. */
  unattended: Due[];
  /** Turns of callable webhooks that nothing blocks any more. */
  stranded: Turn[];
  /** Turns with an overtaken state that was not cancelled. */
  overtaken: Turn[];
  deleted: string[];
  probes: boolean;
}

const maxLapsed = 2_000;
const maxDeleted = 200;

const keyOf = `json_build_object('shipperId', shipper_id, 'deliveryId', delivery_id)`;

/**
 * Reads rows in the order of their key; changes and locks nothing. The log is searched for later states only if the row
 * was attempted: all other rows are cancelled when a later state is recorded, and a held backlog may have a hundred
 * thousand rows.
 */
export async function inspectPage(
  db: Database,
  after: RowKey | null,
  options: {
    unattendedAfterMs: number;
    orderHoldMs: number;
    maxLeaseMs: number;
    terminalStates: string[];
    limit: number;
  },
): Promise<Findings> {
  const [row] = await db.query<Omit<Findings, 'next'> & { last: RowKey | null; looked: number }>(
    'inspect-page',
    `with page as materialized (
       select shipper_id, delivery_id, webhook_id, shipment_id, sequence, state, status, waits_turn, due_at, lease_until,
              replay_id, attempt_count, ${isRowAhead('outbox', '$7')} as ahead
         from outbox
        where (shipper_id, delivery_id) > ($1::uuid, $2::uuid)
        order by shipper_id, delivery_id limit $5
     ), owed as (
       select webhook_id, min(due_at) filter (where status <> 'SENDING' and due_at <= now() - ${ms('$3')}) as due
         from page group by webhook_id
     ), looked as materialized (
       select o.webhook_id, o.due, w.deleted_at is not null as deleted, w.supersede, ${isCallable('w')} as callable, ${isProbed('w')} as probed
         from owed o cross join lateral (
           select webhook_id, status, deleted_at, suspended, supersede
             from webhooks where webhook_id = o.webhook_id limit 1) w
     )
     select (select ${keyOf} from page order by shipper_id desc, delivery_id desc limit 1) as last,
            (select count(*)::int from page) as looked,
            (extract(epoch from now()) * 1000)::float8 as "databaseMs",
            (select coalesce(json_agg(${keyOf}), '[]') from (
               select * from page where status = 'SENDING' and lease_until <= now() limit ${maxLapsed}) l) as lapsed,
            (select coalesce(json_agg(${keyOf}), '[]') from page where ahead) as ahead,
            (select coalesce(json_agg(json_build_object('webhookId', webhook_id, 'dueFromMs', floor(extract(epoch from due) * 1000))), '[]')
               from looked where callable and due is not null) as unattended,
            (select coalesce(json_agg(webhook_id), '[]') from (
               select webhook_id from looked where deleted limit ${maxDeleted}) d) as deleted,
            exists (select 1 from circuits join webhooks using (webhook_id)
                     where open_until <= now() and coalesce(probe_until < now(), true)
                       and ${isActive('webhooks')}) as probes,
            (select coalesce(json_agg(json_build_object('webhookId', n.webhook_id, 'shipmentId', n.shipment_id)), '[]')
               from page n cross join lateral (
                 select ordering, called_since, true as probed
                   from webhooks where webhook_id = n.webhook_id limit 1) w
              where n.waits_turn
                and (n.webhook_id in (select webhook_id from looked where probed)) is true -- hashed, whatever is planned
                and (w.ordering = 'NONE' or not exists (${blocker('n', '$4')}))) as stranded,
            case when exists (select 1 from looked where supersede) then (
              select coalesce(json_agg(json_build_object('webhookId', n.webhook_id, 'shipmentId', n.shipment_id)), '[]')
                from page n
               where (n.status <> 'SENDING' or n.lease_until <= now()) and n.state <> all($6::text[])
                 and (select supersede from webhooks where webhook_id = n.webhook_id)
                 and (${laterOwed('n')} or n.attempt_count > 0 and ${laterFinished('n')})) else '[]' end as overtaken`,
    [
      after?.shipperId ?? lowestId,
      after?.deliveryId ?? lowestId,
      options.unattendedAfterMs,
      options.orderHoldMs,
      options.limit,
      options.terminalStates,
      options.maxLeaseMs,
    ],
  );
  const { last, looked, ...findings } = row!;
  return { ...findings, next: looked === options.limit ? last : null };
}

export async function findFirst(db: Database, after: RowKey | null): Promise<RowKey | null> {
  const rows = await db.query<RowKey>(
    'find-first-owed',
    `select shipper_id as "shipperId", delivery_id as "deliveryId" from outbox
      where (shipper_id, delivery_id) > ($1::uuid, $2::uuid) order by shipper_id, delivery_id limit 1`,
    [after?.shipperId ?? lowestId, after?.deliveryId ?? lowestId],
  );
  return rows[0] ?? null;
}

/**
 * Looks at the front of each callable webhook among the next `limit` that are owed something. So the cost does not
 * depend on long backlogs, or on webhooks that are not called.
 */
export async function findLapsed(
  db: Database,
  after: string | null,
  limit: number,
): Promise<{ next: string | null; lapsed: RowKey[] }> {
  const [row] = await db.query<{ last: string | null; looked: number; lapsed: RowKey[] }>(
    'find-lapsed',
    `with recursive ${owingWebhooks('$2', '$1')}, looked as materialized (select webhook_id from owing)
     select (select webhook_id from looked order by webhook_id desc limit 1) as last,
            (select count(*)::int from looked) as looked,
            (select coalesce(json_agg(${keyOf}), '[]') from (
               select o.shipper_id, o.delivery_id
                 from looked
                cross join lateral (select webhook_id, status, deleted_at, suspended
                                      from webhooks where webhook_id = looked.webhook_id limit 1) w
                cross join lateral (${frontOf('w.webhook_id')}) o
                where ${isCallable('w')} and o.status = 'SENDING' and o.lease_until <= now()
                limit ${maxLapsed}) l) as lapsed`,
    [after ?? lowestId, limit],
  );
  const { last, looked, lapsed } = row!;
  return { next: looked === limit ? last : null, lapsed };
}

export async function findFirstOwing(db: Database, after: string | null): Promise<string | null> {
  const rows = await db.query<{ webhookId: string }>(
    'find-first-owing',
    `select webhook_id as "webhookId" from outbox where webhook_id > $1::uuid and due_at is not null
      order by webhook_id, due_at limit 1`,
    [after ?? lowestId],
  );
  return rows[0]?.webhookId ?? null;
}

/**
 * A smaller difference does not count as a change of the clock.
 *
 * PostgreSQL's clock decides what is due. If it is set back, everything scheduled before would be late by as much. So
 * each waiting row stores the length of its wait (`retry_wait`, `open_wait`; leases and probes have a fixed length),
 * and nothing may be scheduled further ahead than that.
 */
export const clockToleranceMs = 1_000;

/** `wait` is the length of the wait that led to `time`. */
export const isTooFarAhead = (time: string, wait: string) =>
  `coalesce(${time} > now() + ${wait} + interval '${clockToleranceMs} ms', false)`;

/** How far ahead a row may be due; 0 if it has not failed. */
const maxWait = (row: string) => `coalesce(${row}.retry_wait, interval '0')`;

const isRowAhead = (o: string, maxLeaseMs: string) =>
  `(${isTooFarAhead(`${o}.due_at`, maxWait(o))} or ${isTooFarAhead(`${o}.scheduled_at`, maxWait(o))}
    or ${isTooFarAhead(`${o}.lease_until`, ms(maxLeaseMs))} or ${isTooFarAhead(`${o}.first_failed_at`, `interval '0'`)})`;

/**
 * Corrects rows that are too far ahead because PostgreSQL's clock was set back. If it is known by how much
 * (`setBackMs`), they are moved back by that. Afterwards no row is further ahead than its own wait, no lease exceeds
 * `maxLeaseMs`, and no failure is later than now. So nothing is sent early, and nothing is late by more than its own
 * wait. Returns the rows' webhooks.
 */
export async function correctRows(
  db: Database,
  keys: RowKey[],
  { setBackMs, maxLeaseMs }: { setBackMs: number; maxLeaseMs: number },
): Promise<string[]> {
  const back = (time: string) =>
    `case when ${isTooFarAhead(time, maxWait('o'))}
          then least(${time} - ${ms('$3')}, now() + ${maxWait('o')}) else ${time} end`;
  const rows = await db.query<{ webhook_id: string }>(
    'put-rows-right',
    `with ahead as materialized (
       select o.* from ${keyRows.as('p')} cross join lateral (
         select shipper_id, delivery_id, webhook_id from outbox o
          where o.shipper_id = p.shipper_id and o.delivery_id = p.delivery_id and ${isRowAhead('o', '$4')}
          limit 1 for no key update skip locked) o
     ), called as (
       update webhooks set called_since = now()
        where webhook_id = any(array(select webhook_id from ahead)) and ${isTooFarAhead('called_since', `interval '0'`)}
     )
     update outbox o
        set due_at = ${back('o.due_at')}, scheduled_at = ${back('o.scheduled_at')},
            first_failed_at = case when o.first_failed_at > now()
                                   then least(o.first_failed_at - ${ms('$3')}, now()) else o.first_failed_at end,
            lease_until = case when o.lease_until is not null then least(o.lease_until, now() + ${ms('$4')}) end
       from ahead a where ${sameDelivery('o', 'a')}
     returning o.webhook_id`,
    [...keyRows.arrays(inLockOrder(keys)), setBackMs, maxLeaseMs],
  );
  return [...new Set(rows.map((row) => row.webhook_id))];
}
