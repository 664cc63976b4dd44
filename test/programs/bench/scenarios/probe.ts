import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { now, place, type Accepted, type Target } from '../load.js';
import type { BenchReceiver } from '../processes.js';
import { until } from './scenario.js';

export interface ProbeResult {
  accepted: Accepted;
  acceptMs: number[];
}

/** Rotating between `targets`, independent of the responses (open loop). */
export function startProbe(targets: Target[], perSecond: number): { stop(): Promise<ProbeResult> } {
  const agent = new Agent({ keepAlive: true, maxSockets: 200 });
  const result: ProbeResult = { accepted: new Map(), acceptMs: [] };
  const pending: Promise<void>[] = [];
  const startedAt = now();
  let stopped = false;

  const one = async (target: Target) => {
    const askedAt = now();
    const trackingId = await place(target, agent);
    result.accepted.set(trackingId, now());
    result.acceptMs.push(now() - askedAt);
  };
  const run = async () => {
    while (!stopped) {
      const owed = Math.floor(((now() - startedAt) / 1_000) * perSecond);
      while (pending.length < owed) pending.push(one(targets[pending.length % targets.length]!));
      await sleep(2);
    }
  };
  const running = run();
  return {
    stop: async () => {
      stopped = true;
      await running;
      await Promise.all(pending);
      agent.destroy();
      return result;
    },
  };
}

export async function probeFor(targets: Target[], perSecond: number, seconds: number): Promise<ProbeResult> {
  const probe = startProbe(targets, perSecond);
  await sleep(seconds * 1_000);
  return probe.stop();
}

/**
 * Measures from each 201, on the paths of `kind`. Throws unless all `expected` notifications come within `timeoutMs`.
 */
export async function latencies(
  receiver: BenchReceiver,
  { accepted }: ProbeResult,
  kind: string,
  expected: number,
  timeoutMs = 60_000,
): Promise<number[]> {
  const countOf = async () => (await receiver.count(kind)).received;
  await until(`${expected} notifications`, timeoutMs, async () => (await countOf()) >= expected);
  return [...(await receiver.arrivals())].flatMap(([key, at]) => {
    const [path, trackingId] = key.split(' ') as [string, string];
    const acceptedAt = accepted.get(trackingId);
    return path.startsWith(`/${kind}/`) && acceptedAt !== undefined ? [at - acceptedAt] : [];
  });
}
