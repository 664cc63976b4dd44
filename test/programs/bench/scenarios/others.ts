import { registerAccount, registerWebhook } from '../../../support/client.js';
import { target, type Target } from '../load.js';
import { percentiles, type Percentiles } from '../percentiles.js';
import { latencies, startProbe } from './probe.js';
import type { Bench, Figure } from './scenario.js';

const ordersPerSecond = 20;

export async function registerOther(bench: Bench, url: string): Promise<Target> {
  const account = await registerAccount({ url });
  await registerWebhook(account, new URL('/other/', bench.receiver.url).href);
  return target(url, account);
}

interface Noticed {
  accept: Percentiles;
  latency: Percentiles;
}

/** Measures from request to 201, and from there to the receipt. */
export async function watchOther(bench: Bench, other: Target, work: () => Promise<void>): Promise<Noticed> {
  await bench.receiver.reset();
  const probe = startProbe([other], ordersPerSecond);
  await work();
  const result = await probe.stop();
  const latency = await latencies(bench.receiver, result, 'other', result.accepted.size);
  return { accept: percentiles(result.acceptMs), latency: percentiles(latency) };
}

export const othersFigures = (alone: Noticed, meanwhile: Noticed): Figure[] =>
  Object.entries({ before: alone, meanwhile }).map(([when, { latency }]) => ({
    name: `another webhook's p99 ${when}`,
    value: latency.p99,
    unit: 'ms',
    note: `p50 ${latency.p50.toFixed(0)} ms`,
  }));
