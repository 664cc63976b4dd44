import type { Bench } from './scenario.js';

/** The default LOG_RETENTION; a partition a day. */
export const daysBack = 29;

export interface LogOwner {
  shipperId: string;
  webhookIds: string[];
  kind: 'big' | 'many' | 'dead' | 'usual';
}

/**
 * Fills the log with about `count` deliveries by SQL, like the service within its retention: 4 events a shipment,
 * states 5:5:5:4:1 and a few LOST; nearly all succeeded, few failed, a handful is open (due tomorrow or leased until
 * then, so that no worker sends it). The `big` shipper's first webhook has half of all, its second those of the last
 * quarter of the time, its third only the last states; `many` has a few for each of its webhooks; deliveries to the
 * webhook of `dead` failed, and are held since. The `usual` shippers share the rest equally.
 */
export async function fillLog(bench: Bench, owners: LogOwner[], count: number): Promise<void> {
  await bench.sql(`select make_log_partitions((now() - interval '${daysBack + 1} days')::date, now()::date)`);
  await bench.sql('create unlogged table fill_owner (shipper_id uuid, shipments int)');
  const usual = owners.filter(({ kind }) => kind === 'usual').length;
  const shipments = { big: count / 8, many: count / 4_000, dead: count / 80, usual: count / 20 / usual };
  for (const { shipperId, kind } of owners)
    await bench.sql('insert into fill_owner values ($1, $2)', [shipperId, Math.ceil(shipments[kind])]);
  for (const [what, statement] of [...fromTheStart, ['deliveries', deliveries(owners)], ...afterwards]) {
    const startedAt = performance.now();
    await bench.sql(statement!);
    bench.say(`  ${what} filled in ${Math.round((performance.now() - startedAt) / 1_000)} s`);
  }
}

const fromTheStart = [
  [
    'shipments',
    `insert into shipments (shipment_id, shipper_id, process_id, tracking_id, shipper_tracking_id, order_data,
                            dropoff_location, accepted_at)
     select gen_random_uuid(), o.shipper_id, gen_random_uuid(),
            upper('PH' || left(md5(o.shipper_id::text || n), 12)), 'SHIPPER-' || n, '{}', '{}',
            now() - interval '${daysBack} days' * (1 - n::float8 / o.shipments)
       from fill_owner o, generate_series(1, o.shipments) n`,
  ],
  [
    'events',
    `insert into events (event_id, shipper_id, shipment_id, sequence, state, recorded_at, body)
     select uuidv7(s.accepted_at + interval '1 hour' * (k - 5) - clock_timestamp()), s.shipper_id,
            s.shipment_id, k, (array['CREATED', 'PICKED_UP', 'IN_TRANSIT', case
              when hashtext(s.tracking_id) % 20000 = 0 then 'LOST'
              when hashtext(s.tracking_id) % 5 = 0 then 'DELIVERY_FAILED' else 'DELIVERED' end])[k],
            s.accepted_at, '{"state":"CREATED","tracking_id":"' || s.tracking_id || '"}'
       from shipments s join fill_owner using (shipper_id), generate_series(1, 4) k`,
  ],
  [
    'progress',
    `insert into shipment_progress (shipment_id, shipper_id, state, sequence, updated_at, first_event_id, last_event_id)
     select shipment_id, shipper_id, 'DELIVERED', 4, max(recorded_at), min(event_id::text)::uuid, max(event_id::text)::uuid
       from events join fill_owner using (shipper_id) group by shipment_id, shipper_id`,
  ],
];

/** It is as long as that of a usual failure. */
const detail = JSON.stringify({ requestHeaders: { 'webhook-signature': 's'.repeat(600) } });

/** Attempts before the last one, of failed and of retried deliveries. */
const afterwards = [
  [
    'attempts',
    `insert into attempts (shipper_id, delivery_id, number, trigger, started_at, duration_ms, status_code, error_code,
                           response_body, detail)
     select shipper_id, delivery_id, number, 'SCHEDULED', now() - interval '1 day', 20, 500, 'HTTP_STATUS', 'no', '${detail}'
       from (select shipper_id, delivery_id, attempt_count - 1 as earlier from deliveries where status = 'FAILED'
             union all
             select shipper_id, delivery_id, failure_count from outbox) d, generate_series(1, earlier) number`,
  ],
  ['statistics', 'analyze'],
];

const statuses = {
  rarelyBad: `case when h < 200 then 'FAILED' when h < 240 then 'CANCELLED' when h < 244 then 'PENDING'
                   when h < 248 then 'HELD' when h < 252 then 'SENDING' else 'SUCCEEDED' end`,
  neverGood: `case when recorded_at < now() - interval '5 days' then 'FAILED' else 'HELD' end`,
};

/** Open deliveries go into the outbox, finished ones into the log. */
const deliveries = (owners: LogOwner[]) => `
  with parts as materialized (${owners.flatMap(partsOf).join(' union all ')}),
  turns as (
    select *, row_number() over (partition by webhook_id, shipment_id order by sequence) > 1 as waits_turn
      from parts where status in ('PENDING', 'HELD', 'SENDING')
  ), owed as (
    insert into outbox (shipper_id, delivery_id, event_id, webhook_id, shipment_id, sequence, state, status, waits_turn,
                        due_at, lease_until, attempt_count, failure_count)
    select shipper_id, delivery_id, event_id, webhook_id, shipment_id, sequence, state,
           case status when 'PENDING' then 'RETRY' when 'HELD' then 'READY' else status end, waits_turn,
           case when not waits_turn then case status when 'PENDING' then now() + interval '1 day' else recorded_at end end,
           case status when 'SENDING' then now() + interval '1 day' end,
           (status <> 'HELD')::int, (status = 'PENDING')::int
      from turns
  )
  insert into deliveries (shipper_id, delivery_id, event_id, webhook_id, state, status, reason, attempt_count,
                          completed_at, trigger, started_at, duration_ms, status_code, error_code, response_body,
                          detail)
  select shipper_id, delivery_id, event_id, webhook_id, state, status, case status when 'CANCELLED' then 'SUPERSEDED' end,
         case status when 'SUCCEEDED' then 1 when 'FAILED' then 3 else 0 end, recorded_at + interval '1 second',
         case when tried then 'SCHEDULED' end, case when tried then recorded_at end, case when tried then 20 end,
         case status when 'SUCCEEDED' then 200 when 'FAILED' then 500 end,
         case status when 'FAILED' then 'HTTP_STATUS' end, case when tried then 'ok' end,
         case status when 'FAILED' then '${detail}' end
    from (select *, status <> 'CANCELLED' as tried from parts where status in ('SUCCEEDED', 'FAILED', 'CANCELLED')) f`;

function partsOf({ shipperId, webhookIds, kind }: LogOwner): string[] {
  const got = {
    big: ['true', `recorded_at > now() - interval '${daysBack / 4} days'`, 'sequence = 4'],
    many: webhookIds.map(() => 'true'),
    dead: ['true'],
    usual: ['true'],
  };
  return webhookIds.map(
    (webhookId, n) => `
      select shipper_id, delivery_id, event_id, webhook_id, shipment_id, sequence, state, recorded_at,
             ${kind === 'dead' ? statuses.neverGood : statuses.rarelyBad} as status
        from (select shipper_id, delivery_id(event_id, '${webhookId}') as delivery_id, event_id,
                     '${webhookId}'::uuid as webhook_id, shipment_id, sequence, state, recorded_at,
                     abs(hashtext(event_id::text)) % 100000 as h
                from events where shipper_id = '${shipperId}' and ${got[kind][n]}) e`,
  );
}
