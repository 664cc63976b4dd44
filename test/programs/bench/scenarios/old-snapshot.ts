import { setTimeout as sleep } from 'node:timers/promises';
import { registerAccount, registerWebhook } from '../../../support/client.js';
import { placeOrders, target } from '../load.js';
import { median } from '../percentiles.js';
import type { Bench, Scenario } from './scenario.js';

const clients = 48;
const webhooks = 5;
const ordersAtATime = 2_000;
const windowSeconds = 20;
const windows = 4;
const openSeconds = 600;

/** Full load of 48 clients before, during (from its tenth minute) and after a snapshot that retains every dead row. */
export const oldSnapshot: Scenario = {
  name: 'old-snapshot',
  promise: 'a REPEATABLE READ snapshot open for 10 minutes: at least two thirds of the speed before it',
  run: async (bench) => {
    const { url } = await bench.deploy('all');
    const account = await registerAccount({ url });
    for (let n = 0; n < webhooks; n += 1)
      await registerWebhook(account, new URL(`/ok/${n}`, bench.receiver.url).href);
    let loading = true;
    const load = (async () => {
      while (loading) await placeOrders(target(url, account), ordersAtATime, clients);
    })();
    await sleep(10_000);
    const before = median(await speeds(bench));

    const open = bench.scaled(openSeconds);
    const lookingSeconds = windows * windowSeconds;
    const snapshot = bench.sql(
      `begin isolation level repeatable read; select count(*) from outbox; select pg_sleep(${open + lookingSeconds});
       commit`,
    );
    for (let minute = 1; minute * 60 <= open; minute += 1) {
      const [speed] = await speeds(bench, 1, 60);
      bench.say(
        `  minute ${minute} of the snapshot: ${Math.round(speed!)} deliveries/s, ${await size(bench)}`,
      );
    }
    const under = median(await speeds(bench));
    bench.say(`  at its end: ${await size(bench)}`);
    await snapshot;
    await sleep(30_000); // autovacuum runs every 15 s
    const after = median(await speeds(bench));
    loading = false;
    await load;
    return [
      { name: 'before the snapshot', value: before, unit: '/s' },
      {
        name: `slower after ${Math.round(open / 60)} minutes of it`,
        value: Math.max(0, 100 * (1 - under / before)),
        unit: '%',
        atMost: 100 / 3,
        note: `${Math.round(under)}/s`,
      },
      { name: 'half a minute after its end', value: after, unit: '/s' },
    ];
  },
};

async function speeds(bench: Bench, count = windows, seconds = windowSeconds): Promise<number[]> {
  const found: number[] = [];
  for (let n = 0; n < count; n += 1) {
    await bench.receiver.reset();
    const startedAt = performance.now();
    await sleep(seconds * 1_000);
    const { received } = await bench.receiver.count('ok');
    found.push(received / ((performance.now() - startedAt) / 1_000));
  }
  return found;
}

async function size(bench: Bench): Promise<string> {
  const [row] = await bench.sql<{ heap: string; indexes: string }>(
    `select pg_size_pretty(pg_table_size('outbox')) as heap, pg_size_pretty(pg_indexes_size('outbox')) as indexes`,
  );
  return `outbox ${row!.heap}, its indexes ${row!.indexes}`;
}
