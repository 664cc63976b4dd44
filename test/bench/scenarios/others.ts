import { registerAccount, registerWebhook } from '../../client.js';
import { target, type Target } from '../load.js';
import { percentiles, type Percentiles } from '../percentiles.js';
import { latencies, startProbe } from './probe.js';
import type { Bench } from './scenario.js';

const ordersPerSecond = 20;

/** Another shipper, who has one webhook and knows nothing of what goes on. */
export async function registerOther(bench: Bench, url: string): Promise<Target> {
  const account = await registerAccount({ url });
  await registerWebhook(account, new URL('/other/', bench.receiver.url).href);
  return target(url, account);
}

/** How long the other shipper's orders take to their 201, and from there to their receipt, while `work` goes on. */
export async function watchOther(
  bench: Bench,
  other: Target,
  work: () => Promise<void>,
): Promise<{ accept: Percentiles; latency: Percentiles }> {
  await bench.receiver.reset();
  const probe = startProbe([other], ordersPerSecond);
  await work();
  const result = await probe.stop();
  const latency = await latencies(bench.receiver, result, 'other', result.accepted.size);
  return { accept: percentiles(result.acceptMs), latency: percentiles(latency) };
}
