import { registerAccount, registerWebhook } from '../../../support/client.js';
import { startEngines } from './engines.js';
import { until, type Bench, type Figure, type Scenario } from './scenario.js';
import { createMeasure, shipmentsARound, webhooks as perEvent } from './steady.js';
import { way } from '../phases/events.js';

const months = 24;
const events = 30_000_000;
const perShipment = 10;
const shippers = 20;
const rounds = 3;
/** The ratio to the empty one. */
const atMost = 1.1;
/** Statements with less than this share of the time are noise. */
const leastShare = 0.05;

const hotStatements = [
  ['accept orders', 'insert into shipments'],
  ['record events', 'insert into shipment_progress'],
  ['pull what is due', 'picked as materialized'],
  ['settle', 'insert into attempt_counts'],
  ['give turns', 'waits_turn = $'],
] as const;

type Times = Map<string, number>;

export const monthsScenario: Scenario = {
  name: 'months',
  promise:
    "PostgreSQL's CPU a delivery, and its time in each statement of a delivery's way, is the same with 30,000,000 events of 24 months as with none (1.1 times)",
  withStatements: true,
  run: async (bench) => {
    const other = await startEngines(bench.redis ? 'redis' : 'postgres', true);
    if (!other) throw new Error('no second engines');
    try {
      const empty = await prepare({ ...bench, ...other }, false);
      const full = await prepare(bench, true);
      for (const side of [empty, full]) await side.costs(1);
      const [emptyBefore, fullBefore] = [await empty.times(), await full.times()];
      const totals: { empty: number[]; full: number[] } = { empty: [], full: [] };
      for (let round = 0; round < rounds; round += 1) {
        // Alternating, because the machine's speed varies.
        totals.empty.push(sum(await empty.costs(1)));
        totals.full.push(sum(await full.costs(1)));
      }
      const [emptyTimes, fullTimes] = [
        since(await empty.times(), emptyBefore),
        since(await full.times(), fullBefore),
      ];
      const deliveries = rounds * shipmentsARound * perEvent * (way.length + 1);
      return [
        { name: 'events', value: await full.events(), unit: `in ${months + 1} months` },
        {
          ...compared("PostgreSQL's CPU", median(totals.empty), median(totals.full), way.length),
          atMost,
        },
        ...byStatement(emptyTimes, fullTimes, deliveries),
      ];
    } finally {
      await other.stop();
    }
  },
};

const sum = (values: Iterable<number>) => [...values].reduce((total, value) => total + value, 0);
const median = (values: number[]) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)]!;

const compared = (name: string, before: number, after: number, deliveries: number): Figure => ({
  name: `${name}: times as much`,
  value: after / before,
  unit: '',
  note: `${(before / deliveries).toFixed(1)} to ${(after / deliveries).toFixed(1)} µs a delivery`,
});

function byStatement(before: Times, after: Times, deliveries: number): Figure[] {
  const least = leastShare * sum(before.values());
  return [...before].map(([name, us]) => ({
    ...compared(name, us, after.get(name) ?? 0, deliveries),
    ...(us >= least && { atMost }),
  }));
}

const since = (times: Times, before: Times): Times =>
  new Map([...times].map(([name, us]) => [name, us - (before.get(name) ?? 0)]));

/** An API and a worker, so that events are pulled. */
async function prepare(bench: Bench, filled: boolean) {
  const { url } = await bench.deploy('split');
  if (filled) await fill(bench);
  const account = await registerAccount({ url });
  await registerWebhook(account, bench.receiver.url, { status: 'PAUSED', interests: ['NOTHING'] });
  const { costs } = await createMeasure({ ...bench, scaled: (count) => count }, url); // unscaled, or there is too little to compare
  await bench.sql('create extension if not exists pg_stat_statements');
  const times = async (): Promise<Times> => {
    const rows = await bench.sql<{ query: string; us: number }>(
      `select query, total_exec_time * 1000 as us from pg_stat_statements
        where dbid = (select oid from pg_database where datname = current_database())`,
    );
    const of = (marker: string) =>
      sum(rows.filter(({ query }) => query.includes(marker)).map(({ us }) => us));
    return new Map(hotStatements.map(([name, marker]) => [name, of(marker)]));
  };
  const count = async () =>
    (await bench.sql<{ n: number }>('select count(*)::float8 as n from events'))[0]!.n;
  return { costs, times, events: count };
}

/** A month at a time, indexes last, without the write-ahead log, for some shippers. This month's are before today. */
async function fill(bench: Bench): Promise<void> {
  const startedAt = performance.now();
  const shipments = Math.ceil(bench.scaled(events) / months / perShipment);
  await bench.sql('create unlogged table filled (shipment_id uuid, shipper_id uuid, at timestamptz)');
  for (let ago = months; ago > 0; ago -= 1) await bench.sql(fillMonth(ago, shipments));
  await bench.sql('drop table filled');
  await bench.sql('vacuum (analyze)'); // otherwise autovacuum runs meanwhile
  await bench.sql('checkpoint');
  await until('autovacuum is idle', 300_000, async () => {
    const [row] = await bench.sql<{ n: number }>(
      `select count(*)::int as n from pg_stat_activity where backend_type = 'autovacuum worker'`,
    );
    return row!.n === 0;
  });
  bench.say(`  filled in ${Math.round((performance.now() - startedAt) / 1_000)} s`);
}

const fillMonth = (ago: number, shipments: number) => `
do $$
declare
  since timestamptz := date_trunc('month', now()) - interval '${ago} months';
  until timestamptz := since + interval '1 month';
  partition text := 'events' || to_char(since, '_YYYYMM');
begin
  truncate filled;
  insert into filled
  select uuidv7(at - clock_timestamp()), lpad((n % ${shippers})::text, 32, '0')::uuid, at
    from (select n, since + (until - since - interval '1 day') * (n::float8 / ${shipments}) as at
            from generate_series(1, ${shipments}) n) s;
  insert into shipments (shipment_id, shipper_id, process_id, tracking_id, shipper_tracking_id, order_data,
                         dropoff_location, accepted_at)
  select shipment_id, shipper_id, shipment_id, 'PH' || shipment_id, 'OWN', '{}', '{}', at from filled;
  insert into shipment_progress (shipment_id, shipper_id, state, sequence, updated_at)
  select shipment_id, shipper_id, 'DELIVERED', ${perShipment}, at from filled;
  if to_regclass(partition) is not null then execute format('drop table %I', partition); end if;
  execute format('create table %I (like events including defaults)', partition);
  execute format($sql$
    insert into %I (event_id, shipper_id, shipment_id, sequence, state, recorded_at, body, position)
    select uuidv7(at + k * interval '1 hour' - clock_timestamp()), shipper_id, shipment_id, k, 'IN_TRANSIT', at,
           '{"state":"IN_TRANSIT","tracking_id":"PH' || shipment_id || '","timestamp":1790000000000}', 1
      from filled, generate_series(1, ${perShipment}) k $sql$, partition);
  execute format('alter table events attach partition %I for values from (%L) to (%L)', partition, uuid_floor(since),
                 uuid_floor(until));
end $$`;
