import type { Database, Queries } from '../../platform/database/postgres.js';
import { rowSet } from '../../platform/database/parameters.js';
import { insertCounts } from './insert.js';
import {
  insertAttempts,
  insertIntoLog,
  ms,
  outcome,
  outcomeColumns,
  sameDelivery,
  unclaimedStatus,
} from './sql.js';
import { inLockOrder, type Settlement } from './types.js';

/**
 * An outcome counts for its own claim only. It still counts if PostgreSQL lost the claim in a crash and no process has
 * claimed the row since.
 */
const isItsAttempt = `(o.status = 'SENDING' and o.attempt_count = i.number
  or o.status <> 'SENDING' and o.attempt_count = i.number - 1)`;

/** `result` is the status, or REFUSED, which is FAILED for that reason. */
const given = rowSet<Settlement>({
  shipper_id: ['uuid', ({ shipperId }) => shipperId],
  delivery_id: ['uuid', ({ deliveryId }) => deliveryId],
  number: ['int', ({ number }) => number],
  result: ['text', ({ status, reason }) => reason ?? status],
  delay_ms: ['float8', ({ delayMs }) => delayMs],
  trigger: ['text', ({ trigger }) => trigger],
  started_at: ['timestamptz', ({ startedAt }) => startedAt],
  ...outcome,
});

const settleText = ({ onConflict, logged }: { onConflict: string; logged: string }) => `
  with i as materialized (
    select * from ${given.as('t')}
  ), ended as (
    delete from outbox o using i
     where i.result in ('SUCCEEDED', 'FAILED', 'REFUSED') and ${sameDelivery('o', 'i')} and ${isItsAttempt}
    returning o.event_id, o.webhook_id, o.state, i.*
  ), logged as (
    ${insertIntoLog(`select shipper_id, delivery_id, event_id, webhook_id, state,
                            case result when 'REFUSED' then 'FAILED' else result end,
                            case result when 'REFUSED' then result end, number, now(),
                            trigger, started_at, ${outcomeColumns} from ended ${onConflict}`)}
  ), again as (
    update outbox o
       set status = case i.result when 'RETRY' then 'RETRY' else ${unclaimedStatus('o')} end,
           due_at = case i.result when 'RETRY' then now() + ${ms('i.delay_ms')} else coalesce(o.due_at, now()) end,
           scheduled_at = case when i.result <> 'RETRY' then o.scheduled_at end,
           retry_wait = case i.result when 'RETRY' then ${ms('i.delay_ms')} else o.retry_wait end,
           attempt_count = i.number, lease_until = null,
           trigger = case when i.result = 'UNCHANGED' and o.replay_id is not null then o.trigger else 'SCHEDULED' end,
           failure_count = o.failure_count + (i.result = 'RETRY' and i.trigger = 'SCHEDULED')::int,
           first_failed_at = case i.result when 'RETRY' then coalesce(o.first_failed_at, now())
                                           else o.first_failed_at end
      from i
     where i.result in ('RETRY', 'UNCHANGED') and ${sameDelivery('o', 'i')} and ${isItsAttempt}
    returning o.webhook_id, o.due_at, i.*
  ), kept as (
    ${insertAttempts(`select shipper_id, delivery_id, number, trigger, started_at, ${outcomeColumns} from again`)}
  ), counted as (
    ${insertCounts(`select webhook_id, started_at, trigger, result = 'SUCCEEDED' as succeeded, duration_ms from ${logged}
                    union all
                    select webhook_id, started_at, trigger, false, duration_ms from again`)}
  )
  select delivery_id as "deliveryId", number, null::timestamptz as "dueAt" from ended
  union all select delivery_id, number, due_at from again`;

const settling = { name: 'settle', text: settleText({ onConflict: '', logged: 'ended' }) };
const settlingOnceMore = {
  name: 'settle-once-more',
  text: settleText({
    onConflict: 'on conflict do nothing returning delivery_id',
    logged: 'ended join logged using (delivery_id)',
  }),
};

/** `dueAt`: when its delivery is due again; null if it is finished. */
export interface Settled {
  number: number;
  dueAt: Date | null;
}

/**
 * A finished delivery moves into the log with its last attempt. A delivery that is retried stays, and its attempt is
 * stored beside it. An outcome whose claim was lost meanwhile is refused (fencing). Returns the accepted attempts by
 * deliveryId.
 */
export const settle = (db: Queries, settlements: Settlement[]): Promise<Map<string, Settled>> =>
  settleBy(db, settling, settlements);

/** Like `settle`, but a delivery that is already in the log is only removed from the outbox. */
export const settleOnceMore = (db: Database, settlements: Settlement[]): Promise<Map<string, Settled>> =>
  settleBy(db, settlingOnceMore, settlements);

async function settleBy(
  db: Queries,
  { name, text }: typeof settling,
  settlements: Settlement[],
): Promise<Map<string, Settled>> {
  const rows = await db.query<Settled & { deliveryId: string }>(
    name,
    text,
    given.arrays(inLockOrder(settlements)),
  );
  return new Map(rows.map((row) => [row.deliveryId, row]));
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
  const counted = settlements.map(({ deliveryId, number }) => {
    const known = settled.get(deliveryId);
    return known?.number === number ? known : undefined;
  });
  const refused = settlements.filter((_, index) => counted[index] === undefined);
  const recorded = refused.length === 0 ? new Set<Settlement>() : await findRecorded(db, refused);
  return settlements.map((settlement, index): SettlingResult => {
    const known = counted[index];
    if (known) return { kind: 'settled', dueAt: known.dueAt };
    return { kind: recorded.has(settlement) ? 'alreadySettled' : 'lost' };
  });
}

const attempts = rowSet<Settlement>({
  shipper_id: ['uuid', ({ shipperId }) => shipperId],
  delivery_id: ['uuid', ({ deliveryId }) => deliveryId],
  number: ['int', ({ number }) => number],
  started_at: ['timestamptz', ({ startedAt }) => startedAt],
});

async function findRecorded(db: Database, refused: Settlement[]): Promise<Set<Settlement>> {
  const rows = await db.query<{ place: number }>(
    'find-recorded',
    `select r.place::int as place
       from ${attempts.as('r', 1, 'place')}
      where exists (select 1 from deliveries d
                     where d.shipper_id = r.shipper_id and d.delivery_id = r.delivery_id
                       and d.attempt_count >= r.number and d.started_at = r.started_at)
         or exists (select 1 from attempts a
                     where a.delivery_id = r.delivery_id and a.number = r.number and a.started_at = r.started_at
                       and a.duration_ms is not null)`,
    attempts.arrays(refused),
  );
  return new Set(rows.map(({ place }) => refused[place - 1]!));
}
