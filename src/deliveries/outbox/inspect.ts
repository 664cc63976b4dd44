import type { Database } from '../../platform/database/postgres.js';
import type { Due } from './hand-over.js';
import { isRowAhead } from './lapse.js';
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
} from './sql.js';
import type { RowKey, Turn } from './types.js';

/** What a page of the outbox wants done. */
export interface Findings {
  /** Where the next page begins; null at the end. */
  next: RowKey | null;
  /** When the page was looked at, by PostgreSQL's clock. */
  databaseMs: number;
  /** Claims whose lease has run out. */
  lapsed: RowKey[];
  /** Rows that are further ahead than anything is scheduled: the clock was set back. */
  ahead: RowKey[];
  /** Of webhooks that may be called, what has been due the longest and nobody sends. */
  unattended: Due[];
  /** Of webhooks that may be called, what waits for a turn that nobody will give it. */
  stranded: Turn[];
  /** Of which a later state was recorded, and nobody has skipped what is before. */
  overtaken: Turn[];
  /** Deleted webhooks that still are owed something. */
  deleted: string[];
  /** An open circuit may be probed, wherever its deliveries are. */
  probes: boolean;
}

const maxLapsed = 2_000;
const maxDeleted = 200;

const keyOf = `json_build_object('shipperId', shipper_id, 'deliveryId', delivery_id)`;

/**
 * Checks each row of a page of the outbox, in the order of its key. Changes nothing and waits for nobody. The log is
 * searched for states that have overtaken a row only if the row was attempted: a later state overtakes all other rows
 * when it is recorded, and backlogs are held by the hundred thousand.
 */
export async function inspectPage(
  db: Database,
  after: RowKey | null,
  options: {
    unattendedAfterMs: number;
    orderHoldMs: number;
    longestLeaseMs: number;
    terminalStates: string[];
    limit: number;
  },
): Promise<Findings> {
  type Lists = 'lapsed' | 'ahead' | 'unattended' | 'stranded' | 'overtaken' | 'deleted';
  const [row] = await db.query<
    { [Key in Lists]: Findings[Key] | null } & Pick<Findings, 'databaseMs' | 'probes'> & {
        last: RowKey | null;
        looked: number;
      }
  >(
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
            (select json_agg(${keyOf}) from (
               select * from page where status = 'SENDING' and lease_until <= now() limit ${maxLapsed}) l) as lapsed,
            (select json_agg(${keyOf}) from page where ahead) as ahead,
            (select json_agg(json_build_object('webhookId', webhook_id, 'dueFromMs', floor(extract(epoch from due) * 1000)))
               from looked where callable and due is not null) as unattended,
            (select json_agg(webhook_id) from (
               select webhook_id from looked where deleted limit ${maxDeleted}) d) as deleted,
            exists (select 1 from circuits join webhooks using (webhook_id)
                     where open_until <= now() and coalesce(probe_until < now(), true)
                       and ${isActive('webhooks')}) as probes,
            (select json_agg(json_build_object('webhookId', n.webhook_id, 'shipmentId', n.shipment_id))
               from page n cross join lateral (
                 select ordering, called_since, true as probed
                   from webhooks where webhook_id = n.webhook_id limit 1) w
              where n.waits_turn
                and (n.webhook_id in (select webhook_id from looked where probed)) is true -- hashed, whatever is planned
                and (w.ordering = 'NONE' or not exists (${blocker('n', '$4')}))) as stranded,
            case when exists (select 1 from looked where supersede) then (
              select json_agg(json_build_object('webhookId', n.webhook_id, 'shipmentId', n.shipment_id))
                from page n
               where (n.status <> 'SENDING' or n.lease_until <= now()) and n.state <> all($6::text[])
                 and (select supersede from webhooks where webhook_id = n.webhook_id)
                 and (${laterOwed('n')} or n.attempt_count > 0 and ${laterFinished('n')})) end as overtaken`,
    [
      after?.shipperId ?? firstKey,
      after?.deliveryId ?? firstKey,
      options.unattendedAfterMs,
      options.orderHoldMs,
      options.limit,
      options.terminalStates,
      options.longestLeaseMs,
    ],
  );
  const { last, looked, databaseMs, probes, lapsed, ahead, unattended, stranded, overtaken, deleted } = row!;
  return {
    next: looked === options.limit ? last : null,
    databaseMs,
    lapsed: lapsed ?? [],
    ahead: ahead ?? [],
    unattended: unattended ?? [],
    stranded: stranded ?? [],
    overtaken: overtaken ?? [],
    deleted: deleted ?? [],
    probes,
  };
}

const firstKey = '00000000-0000-0000-0000-000000000000';

/** The row that a page after `after` begins with; null where there is none. */
export async function findFirst(db: Database, after: RowKey | null): Promise<RowKey | null> {
  const rows = await db.query<RowKey>(
    'find-first-owed',
    `select shipper_id as "shipperId", delivery_id as "deliveryId" from outbox
      where (shipper_id, delivery_id) > ($1::uuid, $2::uuid) order by shipper_id, delivery_id limit 1`,
    [after?.shipperId ?? firstKey, after?.deliveryId ?? firstKey],
  );
  return rows[0] ?? null;
}

/**
 * Claims whose lease has run out, at the front of each of the next `limit` webhooks that something is due to, as far as
 * they may be called. So the cost does not depend on what is owed further back, or to webhooks that are not called.
 */
export async function findLapsed(
  db: Database,
  after: string | null,
  limit: number,
): Promise<{ next: string | null; lapsed: RowKey[] }> {
  const [row] = await db.query<{ last: string | null; looked: number; lapsed: RowKey[] | null }>(
    'find-lapsed',
    `with recursive ${owingWebhooks('$2', '$1')}, looked as materialized (select webhook_id from owing)
     select (select webhook_id from looked order by webhook_id desc limit 1) as last,
            (select count(*)::int from looked) as looked,
            (select json_agg(${keyOf}) from (
               select o.shipper_id, o.delivery_id
                 from looked
                cross join lateral (select webhook_id, status, deleted_at, suspended
                                      from webhooks where webhook_id = looked.webhook_id limit 1) w
                cross join lateral (${frontOf('w.webhook_id')}) o
                where ${isCallable('w')} and o.status = 'SENDING' and o.lease_until <= now()
                limit ${maxLapsed}) l) as lapsed`,
    [after ?? firstKey, limit],
  );
  const { last, looked, lapsed } = row!;
  return { next: looked === limit ? last : null, lapsed: lapsed ?? [] };
}

/** The first webhook after `after` that something is due to. */
export async function findFirstOwing(db: Database, after: string | null): Promise<string | null> {
  const rows = await db.query<{ webhookId: string }>(
    'find-first-owing',
    `select webhook_id as "webhookId" from outbox where webhook_id > $1::uuid and due_at is not null
      order by webhook_id, due_at limit 1`,
    [after ?? firstKey],
  );
  return rows[0]?.webhookId ?? null;
}
