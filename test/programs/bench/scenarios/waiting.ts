import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { placeOrder, registerAccount, type Account } from '../../../support/client.js';
import { median, percentiles } from '../percentiles.js';
import { watchMemory } from './memory.js';
import { until, type Bench, type Scenario } from './scenario.js';

const shippers = 20;
const readersOfEach = 50;
const warmSeconds = 10;
const seconds = 180;
const betweenOrdersMs = 500;
/** Orders of a shipper without waiting readers: an idle V8 returns memory that it needs again for any work. */
const otherOrdersPerSecond = 40;
/** The median of so many samples, ten a second: memory in use, rather than about to be collected. */
const samples = 300;

/** Each reader polls again after each response; an order wakes fifty of them, rotating between the shippers. */
export const waiting: Scenario = {
  name: 'waiting',
  promise:
    '1,000 long polls of 20 shippers beside 40 orders/s of another: at most 50 MB, no connection to PostgreSQL each, events in 500 ms',
  run: async (bench) => {
    const { url, workerPid: pid } = await bench.deploy('all');
    const accounts = await Promise.all(Array.from({ length: shippers }, () => registerAccount({ url })));
    const others = startOrders(await registerAccount({ url }));
    await ordersFor(accounts, 2 * warmSeconds);
    const readers = startReaders(url, accounts, 1);
    await ordersFor(accounts, warmSeconds);
    await readers.stop();
    const warm = watchMemory(pid);
    await ordersFor(accounts, warmSeconds);
    const beforeMb = median(warm.stop());
    const connectionsBefore = await connections(bench);

    const all = startReaders(url, accounts, bench.scaled(readersOfEach));
    await until('all wait', 60_000, async () => (await waitingNow(url)) >= all.count);
    const watch = watchMemory(pid);
    await ordersFor(accounts, seconds);
    const seenMb = watch.stop();
    const connectionsMeanwhile = await connections(bench);
    const { latencyMs, failed } = await all.stop();
    await others.stop();
    const { p50, p99 } = percentiles(latencyMs);
    return [
      {
        name: `${all.count} waiting`,
        value: median(seenMb.slice(-samples)) - beforeMb,
        unit: 'MB',
        atMost: 50,
        note: `${beforeMb} MB before, ${Math.max(...seenMb)} MB at most`,
      },
      {
        name: 'connections to PostgreSQL besides',
        value: connectionsMeanwhile - connectionsBefore,
        unit: '',
        atMost: 10,
      },
      {
        name: 'order sent to event read, p99',
        value: p99,
        unit: 'ms',
        atMost: 500,
        note: `p50 ${p50.toFixed(0)} ms, ${latencyMs.length} reads`,
      },
      { name: 'reads that failed', value: failed, unit: '', atMost: 0 },
    ];
  },
};

const connections = async ({ sql }: Bench): Promise<number> =>
  (
    await sql<{ open: number }>(
      'select count(*)::int as open from pg_stat_activity where datname = current_database()',
    )
  )[0]!.open;

const waitingNow = async (url: string): Promise<number> =>
  Number(/^parcelhook_feed_waiting (\d+)/m.exec(await (await fetch(`${url}/metrics`)).text())?.[1]);

/** Every half second, rotating between the shippers. Its own number is its sending time. */
async function ordersFor(accounts: Account[], lastingSeconds: number): Promise<void> {
  for (let n = 0; n < (lastingSeconds * 1_000) / betweenOrdersMs; n += 1) {
    await placeOrder(accounts[n % accounts.length]!, String(Date.now()));
    await sleep(betweenOrdersMs);
  }
}

function startOrders(account: Account) {
  let ended = false;
  const run = async () => {
    for (let dueAt = performance.now(); !ended; dueAt += 1_000 / otherOrdersPerSecond) {
      await sleep(Math.max(0, dueAt - performance.now()));
      await placeOrder(account, 'other');
    }
  };
  const running = run();
  running.catch(() => undefined); // reported by `stop`
  return {
    stop: () => {
      ended = true;
      return running;
    },
  };
}

function startReaders(url: string, accounts: Account[], ofEach: number) {
  const latencyMs: number[] = [];
  let failed = 0;
  const ended = new AbortController();
  setMaxListeners(0, ended.signal); // one per request
  const read = async (account: Account) => {
    const headers = { authorization: `Bearer ${account.token}` };
    const ask = async (url: string) => {
      const response = await fetch(url, { headers, signal: ended.signal });
      return response.ok ? ((await response.json()) as { data: Page }).data : null;
    };
    const path = `${url}/v1/events?key=${account.accountKey}&wait=30s&after=`;
    let after = 'latest';
    while (!ended.signal.aborted) {
      const page = await ask(path + after).catch(() => null);
      if (page) {
        after = page.nextCursor;
        for (const { notification } of page.events)
          latencyMs.push(Date.now() - Number(notification.shipper_tracking_id));
      } else if (!ended.signal.aborted) {
        failed += 1;
        await sleep(1_000);
      }
    }
  };
  const running = accounts.flatMap((account) => Array.from({ length: ofEach }, () => read(account)));
  return {
    count: running.length,
    stop: async () => {
      ended.abort();
      await Promise.all(running);
      return { latencyMs, failed };
    },
  };
}

interface Page {
  events: { notification: { shipper_tracking_id: string } }[];
  nextCursor: string;
}
