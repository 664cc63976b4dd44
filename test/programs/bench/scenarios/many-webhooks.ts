import { setTimeout as sleep } from 'node:timers/promises';
import { placeOrder, registerAccount, registerWebhook, type Account } from '../../../support/client.js';
import { percentiles } from '../percentiles.js';
import { registerOther, watchOther } from './others.js';
import { until, type Bench, type Scenario } from './scenario.js';

const webhooks = 10_000;
const orders = 5;
const registeredAtOnce = 32;
const scrapes = 100;

export const manyWebhooks: Scenario = {
  name: 'many-webhooks',
  promise:
    "R13: 10,000 webhooks on one shipper, 1 event: accept p99 at most 250 ms, another shipper's at most 2 s; /metrics at most 20 ms",
  run: async (bench) => {
    const count = bench.scaled(webhooks);
    const { url } = await bench.deploy('all', { WEBHOOKS_PER_SHIPPER: String(count) });
    const account = await registerAccount({ url });
    const other = await registerOther(bench, url);
    await registerMany(bench, account, count);
    const alone = await watchOther(bench, other, () => sleep(10_000));

    const acceptMs: number[] = [];
    const fanOutMs: number[] = [];
    const meanwhile = await watchOther(bench, other, async () => {
      for (let order = 1; order <= orders; order += 1) {
        const startedAt = performance.now();
        await placeOrder(account);
        acceptMs.push(performance.now() - startedAt);
        await until('all webhooks are notified', 60_000, async () => {
          return (await bench.receiver.count('ok')).received >= order * count;
        });
        fanOutMs.push(performance.now() - startedAt);
        bench.say(`  ${count} webhooks told in ${Math.round(fanOutMs.at(-1)!)} ms`);
      }
    });
    const { durationsMs, series } = await scrapeMetrics(url);
    const scrape = percentiles(durationsMs);
    const list = (values: number[]) => values.map((ms) => ms.toFixed(0)).join(', ');
    return [
      { name: 'one order to all webhooks', value: Math.max(...fanOutMs), unit: 'ms', note: list(fanOutMs) },
      { name: 'its 201', value: Math.max(...acceptMs), unit: 'ms', atMost: 250, note: list(acceptMs) },
      {
        name: "others' 201, p99",
        value: meanwhile.accept.p99,
        unit: 'ms',
        atMost: 250,
        note: `${alone.accept.p99.toFixed(0)} ms before`,
      },
      {
        name: "another webhook's p99",
        value: meanwhile.latency.p99,
        unit: 'ms',
        atMost: 2_000,
        note: `${alone.latency.p99.toFixed(0)} ms before`,
      },
      {
        name: '/metrics, p50',
        value: scrape.p50,
        unit: 'ms',
        atMost: 20,
        note: `p99 ${scrape.p99.toFixed(1)} ms`,
      },
      { name: 'series of the process', value: series, unit: '', atMost: 3_000 },
    ];
  },
};

async function scrapeMetrics(url: string): Promise<{ durationsMs: number[]; series: number }> {
  const durationsMs: number[] = [];
  let text = '';
  for (let n = 0; n < scrapes; n += 1) {
    const startedAt = performance.now();
    text = await (await fetch(new URL('/metrics', url))).text();
    durationsMs.push(performance.now() - startedAt);
  }
  return { durationsMs, series: text.split('\n').filter((line) => line.startsWith('parcelhook_')).length };
}

async function registerMany(bench: Bench, account: Account, count: number): Promise<void> {
  let registered = 0;
  const one = async () => {
    while (registered < count) {
      registered += 1;
      await registerWebhook(account, new URL(`/ok/${registered}`, bench.receiver.url).href);
    }
  };
  await Promise.all(Array.from({ length: registeredAtOnce }, one));
  bench.say(`  ${count} webhooks registered`);
}
