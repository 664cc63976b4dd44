import { registerAccount, registerWebhook, type Account } from '../../../support/client.js';
import type { Bench, Scenario } from './scenario.js';
import { timeAll, type Read } from './timed.js';

const events = 10_000_000;
const shipments = 1_000_000;
const rounds = 100;

export const reads: Scenario = {
  name: 'reads',
  promise:
    'a shipper with 1,000,000 shipments of 10,000,000 events, and a webhook with 1,000,000 attempts a day for 720 hours: the feed, the list of shipments and the statistics answer in at most 50 ms (p99)',
  run: async (bench) => {
    const { url } = await bench.deploy('all');
    const account = await registerAccount({ url });
    const { webhookId } = await registerWebhook(account, bench.receiver.url, { status: 'PAUSED' });
    await fill(bench, account, webhookId);
    return timeAll(await readsOf(bench, account, webhookId), rounds);
  },
};

/** Filled positions come before all new ones; a hundred events share a commit. */
async function fill(bench: Bench, { shipperId }: Account, webhookId: string): Promise<void> {
  const perShipment = events / shipments;
  const statements: [string, string, unknown[]][] = [
    ['partitions', `select make_log_partitions((now() - interval '26 days')::date, now()::date)`, []],
    ['room for positions', 'update feed set first_position = first_position + (1::bigint << 40)', []],
    [
      'shipments',
      `insert into shipments (shipment_id, shipper_id, process_id, tracking_id, shipper_tracking_id, order_data,
                              dropoff_location, accepted_at)
       select uuidv7(interval '25 days' * (n::float8 / $2 - 1)), $1, gen_random_uuid(), 'PHREADS' || n, 'OWN-' || n / 2,
              '{}', '{}', now() + interval '25 days' * (n::float8 / $2 - 1)
         from generate_series(1, $2::int) n`,
      [shipperId, bench.scaled(shipments)],
    ],
    [
      'progress',
      `insert into shipment_progress (shipment_id, shipper_id, state, sequence, updated_at)
       select shipment_id, shipper_id, case when right(tracking_id, 5) = '00000' then 'LOST' else 'DELIVERED' end, $1,
              accepted_at
         from shipments`,
      [perShipment],
    ],
    [
      'events',
      `insert into events (event_id, shipper_id, shipment_id, sequence, state, recorded_at, body, position)
       select uuidv7(s.accepted_at - now() + interval '1 minute' * k), s.shipper_id, s.shipment_id, k, 'IN_TRANSIT',
              s.accepted_at, '{"state":"IN_TRANSIT","tracking_id":"' || s.tracking_id || '"}',
              row_number() over (order by s.shipment_id) / 100 + 1
         from shipments s, generate_series(1, $1::int) k`,
      [perShipment],
    ],
    [
      'hours',
      `insert into webhook_hours (webhook_id, hour, succeeded, failed, p50_ms, p95_ms, durations_ms, duration_counts)
       select $1, date_trunc('hour', now()) - make_interval(hours => h), 41000, 667, 40, 210,
              array(select generate_series(1, 120)), array_fill(347, array[120])
         from generate_series(1, 720) h`,
      [webhookId],
    ],
    [
      'counts',
      `insert into attempt_counts (webhook_id, hour, succeeded, failed, durations_ms)
       select $1, date_trunc('hour', now()), 10, 0, array(select (random() * 200)::int from generate_series(1, 10))
         from generate_series(1, 2000)`,
      [webhookId],
    ],
    ['analysis', 'analyze', []],
  ];
  for (const [what, statement, values] of statements) {
    const startedAt = performance.now();
    await bench.sql(statement, values);
    bench.say(`  ${what} in ${Math.round((performance.now() - startedAt) / 1_000)} s`);
  }
}

async function readsOf(bench: Bench, account: Account, webhookId: string): Promise<Read[]> {
  const half = new Date(Date.now() - 12 * 86_400_000).toISOString();
  const middle = await account.call(`/v1/events?limit=250&from=${half}`);
  const after = String(middle.data.nextCursor);
  const [shipment] = await bench.sql<{ trackingId: string }>(
    'select tracking_id as "trackingId" from shipments order by shipment_id desc offset 1000 limit 1',
  );
  const paths: [string, string][] = [
    ['feed from the beginning', '/v1/events?limit=250'],
    ['feed, a page in the middle', `/v1/events?limit=250&after=${after}`],
    ['feed from a time', `/v1/events?from=${half}`],
    ['feed, latest', '/v1/events?after=latest'],
    ['feed of a shipment', `/v1/events?trackingId=${shipment!.trackingId}`],
    ['shipments', '/v1/shipments'],
    ['shipments, 250', '/v1/shipments?limit=250'],
    ['shipments by own id', '/v1/shipments?shipperTrackingId=OWN-4711'],
    ['shipments by an own id that is not there', '/v1/shipments?shipperTrackingId=NONE'],
    ['shipments in a state, all', '/v1/shipments?state=DELIVERED'],
    ['shipments in a state, few', '/v1/shipments?state=LOST'],
    ['shipments in a state, none', '/v1/shipments?state=RETURNED'],
    ['shipments to a time', `/v1/shipments?to=${half}`],
    ['shipments in a state to a time', `/v1/shipments?state=LOST&to=${half}`],
    ['statistics, 24 hours', `/v1/webhooks/${webhookId}/stats`],
    ['statistics, 720 hours', `/v1/webhooks/${webhookId}/stats?hours=720`],
    ['webhooks with health and statistics', '/v1/webhooks?include=health,stats'],
  ];
  return paths.map(([name, path]) => ({ name, account, path }));
}
