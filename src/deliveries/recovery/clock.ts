import type { Database } from '../../platform/database/postgres.js';
import { clockToleranceMs, isTooFar } from '../outbox/lapse.js';
import { ms } from '../outbox/sql.js';

/**
 * The time on the database's clock in answer to a query, and when the query was sent and answered (performance.now()).
 */
export interface ClockReading {
  databaseMs: number;
  askedAt: number;
  answeredAt: number;
}

/**
 * How far the database's clock was set back between two readings, or a little less, but never more. 0 if it was not.
 */
export function putBackMs(before: ClockReading, now: ClockReading): number {
  const passedMs = now.askedAt - before.answeredAt;
  const backMs = passedMs - (now.databaseMs - before.databaseMs);
  return backMs > clockToleranceMs ? backMs : 0;
}

/** No replay rests for longer. */
const longestReplayRest = `interval '1 minute'`;
/** Its interval, or a minute after a step that failed. */
const longestSimulationRest = `greatest(interval_ms * interval '1 millisecond', interval '1 minute')`;

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
        select shipment_id from simulations where ${isTooFar('next_at', longestSimulationRest)}
         order by shipment_id limit $4 for update skip locked))`,
    [options.putBackMs, options.longestLeaseMs, options.longestOpenMs, options.limit],
  );
}
