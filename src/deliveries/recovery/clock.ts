import type { Database } from '../../platform/database/postgres.js';
import { ms, sameDelivery } from '../outbox/sql.js';
import { keysInOrder, type RowKey } from '../outbox/types.js';

/**
 * PostgreSQL's clock decides what is due. If it is set back, everything scheduled before would come that much too late.
 * So everything that waits records how long it was to wait (`retry_wait`, `open_wait`; leases and probes have a fixed
 * length), and nothing may be scheduled further ahead than that.
 */

/**
 * The time on the database's clock in answer to a query, and when the query was sent and answered (performance.now()).
 */
export interface ClockReading {
  databaseMs: number;
  askedAt: number;
  answeredAt: number;
}

/** Clocks are not set by less than this: anything ahead by less is as it should be. */
const toleranceMs = 1_000;

/**
 * How far the database's clock was set back between two readings, or a little less, but never more. 0 if it was not.
 */
export function putBackMs(before: ClockReading, now: ClockReading): number {
  const passedMs = now.askedAt - before.answeredAt;
  const backMs = passedMs - (now.databaseMs - before.databaseMs);
  return backMs > toleranceMs ? backMs : 0;
}

/** Anything that is due now, or was scheduled before, is ahead by less than this. */
const tolerance = `interval '${toleranceMs} ms'`;
/** How far ahead a row's retry may be; a row that has not failed is due as soon as its turn comes. */
const longestWait = (row: string) => `coalesce(${row}.retry_wait, interval '0')`;
/** Whether a moment is further ahead than it may be if it was scheduled to come after `wait`. */
const isTooFar = (moment: string, wait: string) =>
  `coalesce(${moment} > now() + ${wait} + ${tolerance}, false)`;
export const isRowAhead = (o: string, longestLeaseMs: string) =>
  `(${isTooFar(`${o}.due_at`, longestWait(o))} or ${isTooFar(`${o}.scheduled_at`, longestWait(o))}
    or ${isTooFar(`${o}.lease_until`, ms(longestLeaseMs))} or ${isTooFar(`${o}.first_failed_at`, `interval '0'`)})`;

/**
 * Corrects rows that are too far ahead because PostgreSQL's clock was set back. If `putBackMs` is known, they were
 * scheduled too late by that much. Afterwards no row is further ahead than its own wait, no lease is longer than the
 * longest one, and no failure is later than now. So nothing comes early, and nothing comes late by more than its own
 * wait. Returns their webhooks.
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

/** No replay rests for longer. */
const longestReplayRest = `interval '1 minute'`;

/** Like `putRowsRight`, for what waits elsewhere: circuits, probes, attempts by hand, replays and simulations. */
export async function putOthersRight(
  db: Database,
  options: { putBackMs: number; longestLeaseMs: number; longestOpenMs: number; limit: number },
): Promise<void> {
  const openWait = `coalesce(c.open_wait, ${ms('$3')})`;
  const none = `interval '0'`;
  const notLater = (moment: string) => `case when ${moment} > now() then now() else ${moment} end`;
  await db.query(
    'put-others-right',
    `with off as materialized (
       select * from circuits c
        where ${isTooFar('open_until', openWait)} or ${isTooFar('probe_until', ms('$2'))}
           or ${isTooFar('failing_since', none)} or ${isTooFar('window_started_at', none)}
        order by webhook_id limit $4 for update skip locked
     ), circuits_right as (
       update circuits c
          set open_until = case when ${isTooFar('c.open_until', openWait)}
                                then least(c.open_until - ${ms('$1')}, now() + ${openWait}) else c.open_until end,
              probe_until = case when c.probe_until is not null then least(c.probe_until, now() + ${ms('$2')}) end,
              failing_since = ${notLater('c.failing_since')}, last_success_at = ${notLater('c.last_success_at')},
              window_started_at = ${notLater('c.window_started_at')}
        where c.webhook_id = any(array(select webhook_id from off))
     ), by_hand as (
       update redeliveries set lease_until = now() + ${ms('$2')}
        where delivery_id = any(array(
          select delivery_id from redeliveries where ${isTooFar('lease_until', ms('$2'))}
           order by delivery_id limit $4 for update skip locked))
     ), replays_right as (
       update replays set next_at = now()
        where replay_id = any(array(
          select replay_id from replays where status = 'RUNNING' and ${isTooFar('next_at', longestReplayRest)}
           order by replay_id limit $4 for update skip locked))
     )
     update simulations set next_at = now() + interval_ms * interval '1 millisecond'
      where shipment_id = any(array(
        select shipment_id from simulations where ${isTooFar('next_at', `interval_ms * interval '1 millisecond'`)}
         order by shipment_id limit $4 for update skip locked))`,
    [options.putBackMs, options.longestLeaseMs, options.longestOpenMs, options.limit],
  );
}
