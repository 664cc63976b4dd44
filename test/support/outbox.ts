import { expect } from '@jest/globals';
import { newId } from '../../src/platform/ids.js';
import type { Account } from './client.js';
import type { Service } from './harness.js';

/** Makes it due without notifying a worker, so that a sweep sends it. */
export const hasten = (service: Service, deliveryId: string) =>
  service.sql(`update outbox set due_at = now() - interval '1 minute' where delivery_id = $1`, [deliveryId]);

/** No worker is notified: only a sweep finds it. */
export const askUnheard = (service: Service, deliveryId: string) =>
  service.sql(
    `insert into redeliveries (shipper_id, delivery_id, webhook_id)
     select shipper_id, delivery_id, webhook_id from deliveries where delivery_id = $1`,
    [deliveryId],
  );

/** Its process was killed during its attempt; the lease has expired. */
export async function insertLostTest(
  service: Service,
  { shipperId }: Account,
  webhookId: string,
): Promise<string> {
  const [row] = await service.sql<{ delivery_id: string }>(
    `with recorded as (
       insert into events (event_id, shipper_id, sequence, state, recorded_at, body)
       values ($1, $2, 1, 'CREATED', now(), '{}') returning event_id)
     insert into outbox (shipper_id, delivery_id, event_id, webhook_id, sequence, state, status, due_at, lease_until,
                         attempt_count, trigger)
     select $2, delivery_id(event_id, $3), event_id, $3, 1, 'CREATED', 'SENDING', now(), now(), 1, 'TEST'
       from recorded
     returning delivery_id`,
    [newId(), shipperId, webhookId],
  );
  return row!.delivery_id;
}

interface Sql {
  sql<Row>(text: string, values?: unknown[]): Promise<Row[]>;
}

/** The sums from the log (without tests) and from the counts, in one snapshot. */
const sumsText = `
  with attempt as (
    select k.webhook_id, a.started_at, a.trigger, a.duration_ms, a.error_code
      from attempts a join (select delivery_id, webhook_id from outbox
                            union all select delivery_id, webhook_id from deliveries) k using (delivery_id)
    union all
    select webhook_id, started_at, trigger, duration_ms, error_code from deliveries where started_at is not null
  ), log as (
    select webhook_id, date_trunc('hour', started_at, 'UTC') as hour,
           count(*) filter (where duration_ms is not null and error_code is null)::int as succeeded,
           count(*) filter (where duration_ms is null or error_code is not null)::int as failed,
           count(duration_ms)::int as timed
      from attempt where trigger <> 'TEST' group by 1, 2
  ), counted as (
    select webhook_id, hour, sum(succeeded)::int as succeeded, sum(failed)::int as failed, sum(timed)::int as timed
      from (select webhook_id, hour, succeeded, failed, cardinality(durations_ms) as timed from attempt_counts
            union all
            select webhook_id, hour, succeeded, failed,
                   (select sum(n) from unnest(duration_counts) n) from webhook_hours) c group by 1, 2
  )
  select coalesce((select json_agg(l order by webhook_id, hour) from log l), '[]') as log,
         (select json_agg(json_build_object('webhook_id', webhook_id, 'hour', hour, 'succeeded', succeeded,
                                            'failed', failed, 'timed', coalesce(timed, 0)) order by webhook_id, hour)
            from counted) as counted`;

/** Once, in its hour, and nothing else is. Returns how many there are. */
export async function expectCountsMatchLog({ sql }: Sql): Promise<number> {
  type Sums = { succeeded: number; failed: number }[];
  const [row] = await sql<{ log: Sums; counted: Sums | null }>(sumsText);
  expect(row!.counted ?? []).toEqual(row!.log);
  return row!.log.reduce((sum, { succeeded, failed }) => sum + succeeded + failed, 0);
}
