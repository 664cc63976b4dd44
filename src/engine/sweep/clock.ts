import type { Database } from '../../platform/database/postgres.js';
import { clockToleranceMs, isTooFarAhead } from '../outbox/sweep.js';
import { ms } from '../outbox/sql.js';

/** `performance.now()` before and after the query of PostgreSQL's time. */
export interface ClockReading {
  databaseMs: number;
  sentAt: number;
  receivedAt: number;
}

/** Or slightly less, never more; 0 if it was not set back. */
export function setBackMs(before: ClockReading, now: ClockReading): number {
  const passedMs = now.sentAt - before.receivedAt;
  const backMs = passedMs - (now.databaseMs - before.databaseMs);
  return backMs > clockToleranceMs ? backMs : 0;
}

const maxReplayPause = `interval '1 minute'`;
/** A simulation pauses for its interval, or for a minute after a failed step. */
const maxSimulationPause = `greatest(interval_ms * interval '1 millisecond', interval '1 minute')`;

/** Circuits, manual attempts, replays and simulations. */
export async function correctOthers(
  db: Database,
  options: { setBackMs: number; maxLeaseMs: number; maxOpenMs: number; limit: number },
): Promise<void> {
  const openWait = `coalesce(c.open_wait, ${ms('$3')})`;
  const none = `interval '0'`;
  const notLater = (time: string) => `case when ${time} > now() then now() else ${time} end`;
  await db.query(
    'put-others-right',
    `with off as materialized (
       select * from circuits c
        where ${isTooFarAhead('open_until', openWait)} or ${isTooFarAhead('probe_until', ms('$2'))}
           or ${isTooFarAhead('failing_since', none)} or ${isTooFarAhead('window_started_at', none)}
        order by webhook_id limit $4 for update skip locked
     ), circuits_right as (
       update circuits c
          set open_until = case when ${isTooFarAhead('c.open_until', openWait)}
                                then least(c.open_until - ${ms('$1')}, now() + ${openWait}) else c.open_until end,
              probe_until = case when c.probe_until is not null then least(c.probe_until, now() + ${ms('$2')}) end,
              failing_since = ${notLater('c.failing_since')}, last_success_at = ${notLater('c.last_success_at')},
              window_started_at = ${notLater('c.window_started_at')}
        where c.webhook_id = any(array(select webhook_id from off))
     ), by_hand as (
       update redeliveries set lease_until = now() + ${ms('$2')}
        where delivery_id = any(array(
          select delivery_id from redeliveries where ${isTooFarAhead('lease_until', ms('$2'))}
           order by delivery_id limit $4 for update skip locked))
     ), replays_right as (
       update replays set next_at = now()
        where replay_id = any(array(
          select replay_id from replays where status = 'RUNNING' and ${isTooFarAhead('next_at', maxReplayPause)}
           order by replay_id limit $4 for update skip locked))
     )
     update simulations set next_at = now() + interval_ms * interval '1 millisecond'
      where shipment_id = any(array(
        select shipment_id from simulations where ${isTooFarAhead('next_at', maxSimulationPause)}
         order by shipment_id limit $4 for update skip locked))`,
    [options.setBackMs, options.maxLeaseMs, options.maxOpenMs, options.limit],
  );
}
