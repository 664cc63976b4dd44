import type { Database } from '../../platform/database/postgres.js';
import { rowSet } from '../../platform/database/parameters.js';
import { insertCounts } from './counts.js';
import {
  erasedEvents,
  insertAttempts,
  insertIntoLog,
  laterFinished,
  laterOwed,
  ms,
  noOutcome,
  owedOf,
  takeOut,
} from './sql.js';
import type { Turn } from './types.js';

/** `page` selects and locks the keys. `also` adds parts, which can read the removed rows as `gone`. */
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
                             now(), null, null, ${noOutcome} from gone`)}
     returning delivery_id`,
    parameters,
  );
  return rows.length;
}

/** Deliveries being sent are left. Returns the number cancelled. */
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

/** Cancels even deliveries being sent: their outcome is refused, so no response is stored. Locked rows are skipped. */
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
                  ${startedAt}, ${noOutcome} ${underWay}`,
        )})`,
        `counted as (${insertCounts(
          `select webhook_id, ${startedAt} as started_at, trigger, false as succeeded, null::int as duration_ms ${underWay}`,
        )})`,
      ],
    },
    [shipmentIds, leaseMs, byHand],
  );
}

/** All states before sequence `before` are cancelled, even replayed ones. */
export interface Overtaken extends Turn {
  before: number | null;
}

const overtakenRows = rowSet<Overtaken>({
  webhook_id: ['uuid', ({ webhookId }) => webhookId],
  shipment_id: ['uuid', ({ shipmentId }) => shipmentId],
  before: ['int', ({ before }) => before],
});

/** Terminal states and deliveries being sent are left. The later states may then go: call `releaseTurns` next. */
export async function supersede(db: Database, turns: Overtaken[], terminalStates: string[]): Promise<void> {
  await cancel(
    db,
    'supersede',
    {
      page: `select e.shipper_id, e.delivery_id
               from ${overtakenRows.as('t')}
              cross join lateral (select 1 from webhooks where webhook_id = t.webhook_id and supersede limit 1) w
              cross join lateral (
                select e.shipper_id, e.delivery_id from outbox e
                 where e.webhook_id = t.webhook_id and e.shipment_id = t.shipment_id
                   and e.status <> 'SENDING' and e.state <> all($4::text[])
                   and (e.sequence < t.before or ${laterOwed('e')} or ${laterFinished('e')})
                 order by e.sequence for update of e skip locked) e`,
      reason: 'SUPERSEDED',
    },
    [...overtakenRows.arrays(turns), terminalStates],
  );
}

/** Owed deliveries of a removed shipper are deleted, not cancelled: the log keeps nothing of it. */
export const owedToRemove = ({
  shipperId,
  after,
  limit,
}: Record<'shipperId' | 'after' | 'limit', string>) => `
  select shipper_id, delivery_id from outbox
   where shipper_id = ${shipperId} and delivery_id > ${after} order by delivery_id limit ${limit} for update skip locked`;
