import { registerAccount, registerWebhook } from '../../client.js';
import { target, type Target } from '../load.js';
import { percentiles, type Percentiles } from '../percentiles.js';
import { latencies, startProbe } from './probe.js';
import type { Bench, Figure } from './scenario.js';

const ordersPerSecond = 20;

/** Another shipper, who has one webhook and knows nothing of what goes on. */
export async function registerOther(bench: Bench, url: string): Promise<Target> {
  const account = await registerAccount({ url });
  await registerWebhook(account, new URL('/other/', bench.receiver.url).href);
  return target(url, account);
}

interface Noticed {
  accept: Percentiles;
  latency: Percentiles;
}

/** How long the other shipper's orders take to their 201, and from there to their receipt, while `work` goes on. */
export async function watchOther(bench: Bench, other: Target, work: () => Promise<void>): Promise<Noticed> {
  await bench.receiver.reset();
  const probe = startProbe([other], ordersPerSecond);
  await work();
  const result = await probe.stop();
  const latency = await latencies(bench.receiver, result, 'other', result.accepted.size);
  return { accept: percentiles(result.acceptMs), latency: percentiles(latency) };
}

/** What the other's receiver noticed of the work. */
export const othersFigures = (alone: Noticed, meanwhile: Noticed): Figure[] =>
  Object.entries({ before: alone, meanwhile }).map(([when, { latency }]) => ({
    name: `another webhook's p99 ${when}`,
    value: latency.p99,
    unit: 'ms',
    note: `p50 ${latency.p50.toFixed(0)} ms`,
  }));
