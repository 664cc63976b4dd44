import type { Database } from '../../platform/database/postgres.js';
import {
  blocker,
  insertAttempts,
  insertCancelled,
  insertIntoLog,
  isActive,
  isCallable,
  isProbed,
  ms,
  overtaker,
  restingStatus,
  sameDelivery,
  takeOut,
} from '../outbox/sql.js';
import type { Turn, Unattended } from '../outbox/types.js';
import { insertCounts } from '../stats/sql.js';

/** Where a page of the outbox ended. */
export interface Position {
  shipperId: string;
  deliveryId: string;
}

/** What a page of the outbox wants done. */
export interface Findings {
  /** Where the next page begins; null at the end. */
  next: Position | null;
  /** Some lease has run out. */
  lapsed: boolean;
  /** Of webhooks that may be called, what has been due the longest and nobody sends. */
  unattended: Unattended[];
  /** Of webhooks that may be called, what waits for a turn that nobody will give it. */
  stranded: Turn[];
  /** Of which a later state was recorded, and nobody has skipped what is before. */
  overtaken: Turn[];
  /** Deleted webhooks that still are owed something. */
  deleted: string[];
  /** An open circuit may be probed, wherever its deliveries are. */
  probes: boolean;
}

interface Page {
  last: Position | null;
  looked: number;
  lapsed: boolean;
  probes: boolean;
}

/** Checks each row of a page of the outbox, in the order of its key. Changes nothing and waits for nobody. */
export async function inspectPage(
  db: Database,
  after: Position | null,
  options: { unattendedAfterMs: number; orderHoldMs: number; terminalStates: string[]; limit: number },
): Promise<Findings> {
  const [row] = await db.query<{ [Key in keyof Findings]: Findings[Key] | null } & Page>(
    'inspect-page',
    `with page as materialized (
       select shipper_id, delivery_id, webhook_id, shipment_id, sequence, state, status, waits_turn, due_at, lease_until,
              replay_id
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
     select (select json_build_object('shipperId', shipper_id, 'deliveryId', delivery_id)
               from page order by shipper_id desc, delivery_id desc limit 1) as last,
            (select count(*)::int from page) as looked,
            exists (select 1 from page where status = 'SENDING' and lease_until <= now()) as lapsed,
            (select json_agg(json_build_object('webhookId', webhook_id, 'dueAt', due))
               from looked where callable and due is not null) as unattended,
            (select json_agg(webhook_id) from looked where deleted) as deleted,
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
                 and exists (${overtaker('n')})) end as overtaken`,
    [
      after?.shipperId ?? firstKey,
      after?.deliveryId ?? firstKey,
      options.unattendedAfterMs,
      options.orderHoldMs,
      options.limit,
      options.terminalStates,
    ],
  );
  const { last, looked, lapsed, probes, unattended, stranded, overtaken, deleted } = row!;
  return {
    next: looked === options.limit ? last : null,
    lapsed,
    unattended: (unattended ?? []).map(({ webhookId, dueAt }) => ({ webhookId, dueAt: new Date(dueAt) })),
    stranded: stranded ?? [],
    overtaken: overtaken ?? [],
    deleted: deleted ?? [],
    probes,
  };
}

const firstKey = '00000000-0000-0000-0000-000000000000';

/**
 * Takes up claims whose lease has run out, of the page that begins after `after`; their attempts are recorded without an
 * outcome, as begun when they were claimed or their lease was last renewed. A test is over then, everything else is due
 * again. Attempts by hand are left to those who made them.
 * Returns the webhooks and how many.
 */
export async function takeLapsed(
  db: Database,
  after: Position | null,
  options: { leaseMs: number; byHandLeaseMs: number; limit: number },
): Promise<{ webhookIds: string[]; count: number }> {
  const rows = await db.query<{ webhook_id: string }>(
    'take-lapsed',
    `with page as materialized (
       select shipper_id, delivery_id from outbox
        where (shipper_id, delivery_id) > ($1::uuid, $2::uuid)
        order by shipper_id, delivery_id limit $4
     ), lapsed as materialized (
       select o.*, o.lease_until - case o.trigger when 'TEST' then ${ms('$5')} else ${ms('$3')} end as began_at
         from page p cross join lateral (
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
                               trigger, began_at, null, null, null, null, null from over`)}
     ), lost as (
       ${insertAttempts(`select shipper_id, delivery_id, attempt_count, trigger, began_at, null, null, null,
                                null, null from lapsed where trigger <> 'TEST'`)}
     ), counted as (
       ${insertCounts(`select webhook_id, began_at as started_at, trigger, false as succeeded,
                              null::int as duration_ms from lapsed`)}
     )
     update outbox o set status = ${restingStatus('o')}, lease_until = null, due_at = coalesce(o.due_at, now())
       from lapsed l where l.trigger <> 'TEST' and ${sameDelivery('o', 'l')}
     returning o.webhook_id`,
    [
      after?.shipperId ?? firstKey,
      after?.deliveryId ?? firstKey,
      options.leaseMs,
      options.limit,
      options.byHandLeaseMs,
    ],
  );
  return { webhookIds: [...new Set(rows.map((row) => row.webhook_id))], count: rows.length };
}

/** Cancels a page of what a deleted webhook is owed, but nothing that is being sent. Returns how many. */
export async function cancelOwed(db: Database, webhookId: string, limit: number): Promise<number> {
  const rows = await db.query(
    'cancel-owed',
    `with page as materialized (
       select shipper_id, delivery_id from outbox
        where webhook_id = $1 and status <> 'SENDING'
          and exists (select 1 from webhooks where webhook_id = $1 and deleted_at is not null)
        order by webhook_id, shipment_id, sequence limit $2 for update skip locked
     ), gone as (${takeOut('page')}), logged as (${insertCancelled('gone', `'WEBHOOK_DELETED'`)})
     select delivery_id from gone`,
    [webhookId, limit],
  );
  return rows.length;
}
