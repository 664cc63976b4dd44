import type { Database, Queries } from '../../platform/database/postgres.js';
import { insertCounts } from './counts.js';
import {
  insertAttempts,
  insertIntoLog,
  ms,
  outcomeArrays,
  outcomeColumns,
  outcomeParameters,
  sameDelivery,
  unclaimedStatus,
} from './sql.js';
import type { Settlement } from './types.js';

/**
 * An outcome counts for its own claim only. It still counts if PostgreSQL lost the claim in a crash and no process has
 * claimed the row since.
 */
const isItsAttempt = `(o.status = 'SENDING' and o.attempt_count = i.number
  or o.status <> 'SENDING' and o.attempt_count = i.number - 1)`;

/**
 * A finished delivery moves into the log with its last attempt; one that is retried stays, and its attempt is stored
 * beside it. An outcome whose claim was lost meanwhile is refused (fencing). Returns the accepted attempts by
 * deliveryId.
 */
export function settle(db: Queries, settlements: Settlement[]): Promise<Map<string, Settled>> {
  return settleBy(db, 'settle', { onConflict: '', logged: 'ended' }, settlements);
}

/** Like `settle`, but a delivery that is already in the log is only removed from the outbox. */
export function settleOnceMore(db: Database, settlements: Settlement[]): Promise<Map<string, Settled>> {
  const onConflict = 'on conflict do nothing returning delivery_id';
  return settleBy(
    db,
    'settle-once-more',
    { onConflict, logged: 'ended join logged using (delivery_id)' },
    settlements,
  );
}

/** `dueAt`: when its delivery is due again; null if it is finished. */
export interface Settled {
  number: number;
  dueAt: Date | null;
}

async function settleBy(
  db: Queries,
  name: string,
  { onConflict, logged }: { onConflict: string; logged: string },
  settlements: Settlement[],
): Promise<Map<string, Settled>> {
  const inOrder = [...settlements].sort((a, b) => (a.deliveryId < b.deliveryId ? -1 : 1)); // lock order
  const column = <Value>(value: (settlement: Settlement) => Value) => inOrder.map(value);
  const rows = await db.query<Settled & { deliveryId: string }>(
    name,
    `with i as materialized (
       select * from unnest($1::uuid[], $2::uuid[], $3::int[], $4::text[], $5::text[], $6::float8[], $7::text[],
                            $8::timestamptz[], ${outcomeParameters(9, '[]')})
         as t (shipper_id, delivery_id, number, status, reason, delay_ms, trigger, started_at, ${outcomeColumns})
     ), ended as (
       delete from outbox o using i
        where i.status in ('SUCCEEDED', 'FAILED') and ${sameDelivery('o', 'i')} and ${isItsAttempt}
       returning o.event_id, o.webhook_id, o.state, i.*
     ), logged as (
       ${insertIntoLog(`select shipper_id, delivery_id, event_id, webhook_id, state, status, reason, number, now(),
                               trigger, started_at, ${outcomeColumns} from ended ${onConflict}`)}
     ), again as (
       update outbox o
          set status = case i.status when 'RETRY' then 'RETRY' else ${unclaimedStatus('o')} end,
              due_at = case i.status when 'RETRY' then now() + ${ms('i.delay_ms')} else coalesce(o.due_at, now()) end,
              scheduled_at = case when i.status <> 'RETRY' then o.scheduled_at end,
              retry_wait = case i.status when 'RETRY' then ${ms('i.delay_ms')} else o.retry_wait end,
              attempt_count = i.number, lease_until = null,
              trigger = case when i.status = 'UNCHANGED' and o.replay_id is not null then o.trigger else 'SCHEDULED' end,
              failure_count = o.failure_count + (i.status = 'RETRY' and i.trigger = 'SCHEDULED')::int,
              first_failed_at = case i.status when 'RETRY' then coalesce(o.first_failed_at, now())
                                              else o.first_failed_at end
         from i
        where i.status in ('RETRY', 'UNCHANGED') and ${sameDelivery('o', 'i')} and ${isItsAttempt}
       returning o.webhook_id, o.due_at, i.*
     ), kept as (
       ${insertAttempts(`select shipper_id, delivery_id, number, trigger, started_at, ${outcomeColumns} from again`)}
     ), counted as (
       ${insertCounts(`select webhook_id, started_at, trigger, status = 'SUCCEEDED' as succeeded, duration_ms from ${logged}
                       union all
                       select webhook_id, started_at, trigger, false, duration_ms from again`)}
     )
     select delivery_id as "deliveryId", number, null::timestamptz as "dueAt" from ended
     union all select delivery_id, number, due_at from again`,
    [
      column(({ shipperId }) => shipperId),
      column(({ deliveryId }) => deliveryId),
      column(({ number }) => number),
      column(({ status }) => status),
      column(({ reason }) => reason),
      column(({ delayMs }) => delayMs),
      column(({ trigger }) => trigger),
      column(({ startedAt }) => startedAt),
      ...outcomeArrays(inOrder),
    ],
  );
  return new Map(rows.map(({ deliveryId, ...settled }) => [deliveryId, settled]));
}

/** `lost`: the claim was lost meanwhile, and the outcome does not count. */
export type SettlingResult =
  | { kind: 'settled'; /** When it is due again; null if it is finished. */ dueAt: Date | null }
  | { kind: 'alreadySettled' }
  | { kind: 'lost' };

/**
 * Results in the order of the settlements. Refused ones are looked up anew: `settle` did not see what was committed
 * meanwhile.
 */
export async function resultsOf(
  db: Database,
  settlements: Settlement[],
  settled: Map<string, Settled>,
): Promise<SettlingResult[]> {
  const isSettled = ({ deliveryId, number }: Settlement) => settled.get(deliveryId)?.number === number;
  const refused = settlements.filter((settlement) => !isSettled(settlement));
  const recorded = refused.length === 0 ? new Set<Settlement>() : await findRecorded(db, refused);
  return settlements.map((settlement) => {
    if (isSettled(settlement)) return { kind: 'settled', dueAt: settled.get(settlement.deliveryId)!.dueAt };
    return { kind: recorded.has(settlement) ? 'alreadySettled' : 'lost' };
  });
}

async function findRecorded(db: Database, refused: Settlement[]): Promise<Set<Settlement>> {
  const rows = await db.query<{ place: number }>(
    'find-recorded',
    `select r.place::int as place
       from unnest($1::uuid[], $2::uuid[], $3::int[], $4::timestamptz[]) with ordinality
         as r (shipper_id, delivery_id, number, started_at, place)
      where exists (select 1 from deliveries d
                     where d.shipper_id = r.shipper_id and d.delivery_id = r.delivery_id
                       and d.attempt_count >= r.number and d.started_at = r.started_at)
         or exists (select 1 from attempts a
                     where a.delivery_id = r.delivery_id and a.number = r.number and a.started_at = r.started_at
                       and a.duration_ms is not null)`,
    [
      refused.map(({ shipperId }) => shipperId),
      refused.map(({ deliveryId }) => deliveryId),
      refused.map(({ number }) => number),
      refused.map(({ startedAt }) => startedAt),
    ],
  );
  return new Set(rows.map(({ place }) => refused[place - 1]!));
}
