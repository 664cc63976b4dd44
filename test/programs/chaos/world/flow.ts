import { setTimeout as sleep } from 'node:timers/promises';
import type { Figure } from '../../bench/scenarios/scenario.js';
import type { World } from './world.js';

const triedForMs = 90_000;
const pollMs = 250;
const respondWithinMs = 2_000;

/**
 * Jobs flow through every queue to every worker. Deliveries do not show it: the sweep sends due ones without a queue.
 */
export async function flowsWithin({ service }: World, atMost: number): Promise<Figure> {
  const startedAt = performance.now();
  const elapsedMs = () => performance.now() - startedAt;
  let value = Infinity;
  while (value === Infinity && elapsedMs() < triedForMs) {
    const sinceMs = elapsedMs();
    const flowing = await Promise.all([
      canUseQueue(service.api.url),
      ...service.workers.map(async ({ url }) => (await oldestJobMs(url)) < sinceMs),
    ]).catch(() => [false]);
    if (flowing.every(Boolean)) value = elapsedMs();
    else await sleep(pollMs);
  }
  return { name: 'jobs flow again after', value, unit: 'ms', atMost };
}

const get = (url: string) => fetch(url, { signal: AbortSignal.timeout(respondWithinMs) });

async function canUseQueue(apiUrl: string): Promise<boolean> {
  const { checks } = (await (await get(`${apiUrl}/readyz`)).json()) as { checks: Record<string, string> };
  return checks.queue === 'OK';
}

/** The age of the last job in the queue where it is oldest. */
async function oldestJobMs(workerUrl: string): Promise<number> {
  const metrics = await (await get(`${workerUrl}/metrics`)).text();
  const ages = [...metrics.matchAll(/queue_canary_age_seconds\{[^}]*\} (\S+)/g)].map(([, age]) =>
    Number(age),
  );
  return Math.max(...ages) * 1_000;
}
