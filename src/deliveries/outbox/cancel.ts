import type { Database } from '../../platform/database/postgres.js';
import { insertCounts } from '../stats/sql.js';
import {
  erasedEvents,
  insertAttempts,
  insertIntoLog,
  laterFinished,
  laterOwed,
  ms,
  owedOf,
  takeOut,
} from './sql.js';
import { turnColumns, type Turn } from './types.js';

/**
 * Takes a page of rows out of the outbox, which `page` selects and locks by key, and writes them into the log as
 * cancelled; the attempts they had are in `attempts`. `also` are further parts of the statement, of the rows that are
 * `gone`. Returns how many.
 */
async function cancel(
  db: Database,
  name: string,
  { page, reason, also = [] }: { page: string; reason: string; also?: string[] },
  parameters: unknown[],
): Promise<number> {
  const rows = await db.query(
    name,
    `with ${[`page as materialized (${page})`, `gone as (${takeOut('page')})`, ...also].join(', ')}
     ${insertIntoLog(`select shipper_id, delivery_id, event_id, webhook_id, state, 'CANCELLED', '${reason}', attempt_count,
                             now(), null, null, null, null, null, null, null, null from gone`)}
     returning delivery_id`,
    parameters,
  );
  return rows.length;
}

/** Cancels a page of what a deleted webhook is owed, but nothing that is being sent. Returns how many. */
export const cancelOwed = (db: Database, webhookId: string, limit: number): Promise<number> =>
  cancel(
    db,
    'cancel-owed',
    {
      page: `select shipper_id, delivery_id from outbox
              where webhook_id = $1 and status <> 'SENDING'
                and exists (select 1 from webhooks where webhook_id = $1 and deleted_at is not null)
              order by webhook_id, shipment_id, sequence limit $2 for update skip locked`,
      reason: 'WEBHOOK_DELETED',
    },
    [webhookId, limit],
  );

/** Cancels a page of what has been owed for longer than the log is kept. Returns how many. */
export const cancelExpired = (db: Database, retentionMs: number, limit: number): Promise<number> =>
  cancel(
    db,
    'cancel-expired',
    {
      page: `select shipper_id, delivery_id from outbox
              where delivery_id < uuid_floor(now() - ${ms('$1')}) and status <> 'SENDING'
              order by shipper_id, delivery_id limit $2 for update skip locked`,
      reason: 'EXPIRED',
    },
    [retentionMs, limit],
  );

/**
 * Cancels what is owed of erased events, also what is being sent: the result of that attempt is refused, so nothing a
 * receiver answers is kept, and the log has it as one whose outcome is unknown. What somebody has locked is left.
 */
export async function cancelErased(
  db: Database,
  shipmentIds: string[],
  { leaseMs, byHand }: { leaseMs: number; byHand: string[] },
): Promise<void> {
  const underWay = `from gone where status = 'SENDING'`;
  const startedAt = `least(lease_until - ${ms('$2')}, now())`;
  await cancel(
    db,
    'cancel-erased',
    {
      page: `select o.* from ${erasedEvents} cross join lateral (${owedOf('e')} for update skip locked) o`,
      reason: 'ERASED',
      also: [
        `lost as (${insertAttempts(
          `select shipper_id, delivery_id, attempt_count,
                  case when delivery_id = any($3::uuid[]) then 'MANUAL' else trigger end,
                  ${startedAt}, null, null, null, null, null, null ${underWay}`,
        )})`,
        `counted as (${insertCounts(
          `select webhook_id, ${startedAt} as started_at, trigger, false as succeeded, null::int as duration_ms ${underWay}`,
        )})`,
      ],
    },
    [shipmentIds, leaseMs, byHand],
  );
}

/** A shipment's states for a webhook that wants overtaken ones skipped; those before `before` are, replayed or not. */
export interface Overtaken extends Turn {
  before: number | null;
}

/**
 * Cancels what a later state has overtaken, where the webhook wants that; but nothing that is being sent, and no terminal
 * state. What is owed behind it may go then: ask for their turns next.
 */
export async function supersede(db: Database, turns: Overtaken[], terminalStates: string[]): Promise<void> {
  await cancel(
    db,
    'supersede',
    {
      page: `select e.shipper_id, e.delivery_id
               from unnest($1::uuid[], $2::uuid[], $3::int[]) as t (webhook_id, shipment_id, before)
              cross join lateral (select 1 from webhooks where webhook_id = t.webhook_id and supersede limit 1) w
              cross join lateral (
                select e.shipper_id, e.delivery_id from outbox e
                 where e.webhook_id = t.webhook_id and e.shipment_id = t.shipment_id
                   and e.status <> 'SENDING' and e.state <> all($4::text[])
                   and (e.sequence < t.before or ${laterOwed('e')} or ${laterFinished('e')})
                 order by e.sequence for update of e skip locked) e`,
      reason: 'SUPERSEDED',
    },
    [...turnColumns(turns), turns.map(({ before }) => before), terminalStates],
  );
}

/** The next rows of a shipper that is removed: nobody will send them, and nothing of them is kept in the log. */
export const owedToRemove = ({
  shipperId,
  after,
  limit,
}: Record<'shipperId' | 'after' | 'limit', string>) => `
  select shipper_id, delivery_id from outbox
   where shipper_id = ${shipperId} and delivery_id > ${after} order by delivery_id limit ${limit} for update skip locked`;
