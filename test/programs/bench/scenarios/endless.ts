import { setTimeout as sleep } from 'node:timers/promises';
import { registerAccount, registerWebhook } from '../../../support/client.js';
import { target } from '../load.js';
import { median } from '../percentiles.js';
import { watchMemory } from './memory.js';
import { latencies, probeFor } from './probe.js';
import type { Bench, Figure, Scenario } from './scenario.js';

const rounds = 2;
const warmSeconds = 3;
const seconds = 8;
const boundMb = 10;
const loads = [
  { concurrency: 1, perSecond: 40 },
  { concurrency: 50, perSecond: 200 },
];
/** Response bodies: none; the 4 KiB that are stored of any, closing the connection; an endless one. */
const kinds = ['ok', 'long', 'endless'];

/** A new worker for each figure, warmed up with the same load and short responses; the kinds alternate. */
export const endless: Scenario = {
  name: 'endless',
  promise: 'R3: endless bodies make the worker grow by at most 10 MB more than short ones',
  run: async (bench) => {
    const figures: Figure[] = [];
    for (const { concurrency, perSecond } of loads) {
      const grownMb: Record<string, number[]> = Object.fromEntries(kinds.map((kind) => [kind, []]));
      for (let round = 0; round < rounds; round += 1) {
        for (const kind of kinds) grownMb[kind]!.push(await growth(bench, kind, concurrency, perSecond));
        bench.say(
          `  ${concurrency} at once: ${kinds.map((kind) => `${kind} ${grownMb[kind]!.at(-1)} MB`).join(', ')}`,
        );
      }
      const figureOf = (name: string, kind: string): Figure => ({
        name: `${name}, ${concurrency} at once`,
        value: median(grownMb[kind]!),
        unit: 'MB',
        note: grownMb[kind]!.join(', '),
      });
      const short = figureOf('growth, no body', 'ok');
      const withoutEnd = figureOf('growth, endless', 'endless');
      figures.push(short, figureOf('growth, 4 KiB and closed', 'long'), {
        ...withoutEnd,
        atMost: short.value + boundMb,
      });
    }
    return figures;
  },
};

/** The growth of a warm worker's RSS, the median over the load. */
async function growth(bench: Bench, kind: string, concurrency: number, perSecond: number): Promise<number> {
  const deployment = await bench.deploy('split', { DELIVERY_CONCURRENCY: String(concurrency) });
  const { url, workerPid } = deployment;
  const account = await registerAccount({ url });
  const { webhookId } = await registerWebhook(account, new URL('/ok/', bench.receiver.url).href);
  const load = async (lastingSeconds: number, path: string) => {
    await bench.receiver.reset();
    const watch = watchMemory(workerPid);
    const probe = await probeFor([target(url, account)], bench.scaled(perSecond), lastingSeconds);
    await latencies(bench.receiver, probe, path, probe.accepted.size);
    return watch.stop();
  };
  await load(warmSeconds, 'ok');
  const before = median((await load(warmSeconds, 'ok')).slice(-20));
  await account.call(`/v1/webhooks/${webhookId}`, {
    method: 'PATCH',
    body: { targetAddress: new URL(`/${kind}/`, bench.receiver.url).href },
  });
  await sleep(500);
  const during = median((await load(seconds, kind)).slice(-50));
  await deployment.stop();
  return during - before;
}
