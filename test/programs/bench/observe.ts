import { setTimeout as sleep } from 'node:timers/promises';
import { now } from './clock.js';
import { postgresCpuUs, processCpuUs } from './cpu.js';
import { updatesBetween, watchDatabase } from './database-watch.js';
import type { Deployment } from './deployment.js';
import { figure, type Details, type Figure } from './figures.js';
import { rssBytes } from './processes.js';

/** Microseconds of each role of the service, `PostgreSQL`, `Redis`; separately the receiver and the load. */
export type Cpu = Record<string, number>;

/** The cost from the load's start until all of its writes are done. */
export interface Cost {
  seconds: number;
  cpuUs: Cpu;
  walBytes: number;
  fullPageImages: number;
  deadlocks: number;
  /** The highest of each role; of several workers, the largest one. */
  rssPeakBytes: Record<string, number>;
  details: Details;
}

const apart = ['receiver', 'load'];
const waitsEveryMs = 50;
const rssEveryMs = 200;
/** A session reports its statistics once a second at most. */
const statisticsLagMs = 1_200;
const quietMs = 300;
const quietTimeoutMs = 3_000;
/** Writes below this share of the load's, or below this amount, are housekeeping. */
const quietShare = 0.05;
const quietBytesPerSecond = 64_000;

export function cpuOf({ system, shape, processes, receiver }: Deployment, except: readonly number[]): Cpu {
  const cpu: Cpu = {};
  for (const { role, pid } of processes) cpu[role] = (cpu[role] ?? 0) + processCpuUs(pid);
  cpu.PostgreSQL = postgresCpuUs(system.postgres.pid, except);
  if (shape.queue === 'redis') cpu.Redis = processCpuUs(system.redis!.pid);
  const { user, system: kernel } = process.cpuUsage();
  return { ...cpu, receiver: processCpuUs(receiver.pid), load: user + kernel };
}

export const cpuBetween = (before: Cpu, after: Cpu): Cpu =>
  Object.fromEntries(Object.entries(after).map(([name, us]) => [name, us - before[name]!]));

export const systemCpuUs = (cpu: Cpu): number =>
  Object.entries(cpu).reduce((sum, [name, us]) => (apart.includes(name) ? sum : sum + us), 0);

export async function observe<T>(d: Deployment, load: () => Promise<T>): Promise<{ result: T; cost: Cost }> {
  const watch = await watchDatabase(d);
  const rssPeakBytes: Record<string, number> = {};
  const lookAtMemory = () => {
    for (const { role, pid } of d.processes)
      rssPeakBytes[role] = Math.max(rssPeakBytes[role] ?? 0, rssBytes(pid));
  };
  const repeats: Repeat[] = [];
  try {
    await watch.resetStatements();
    const countersBefore = await watch.counters();
    const walBefore = await watch.walPosition();
    const cpuBefore = cpuOf(d, watch.pids);
    const startedAt = now();
    repeats.push(repeat(waitsEveryMs, watch.sampleWaits), repeat(rssEveryMs, lookAtMemory));
    const result = await load();
    const seconds = (now() - startedAt) / 1_000;
    await Promise.all(repeats.map((one) => one.stop()));
    const walAfter = await untilQuiet(watch.walPosition, walBefore, seconds);
    const cpuUs = cpuBetween(cpuBefore, cpuOf(d, watch.pids));
    const statements = await watch.dearestStatements();
    await sleep(statisticsLagMs);
    const counters = await watch.counters();
    const cost: Cost = {
      seconds,
      cpuUs,
      walBytes: walAfter - walBefore,
      fullPageImages: counters.fullPageImages - countersBefore.fullPageImages,
      deadlocks: counters.deadlocks - countersBefore.deadlocks,
      rssPeakBytes,
      details: { waits: watch.waits(), updates: updatesBetween(countersBefore, counters), statements },
    };
    return { result, cost };
  } finally {
    await Promise.allSettled(repeats.map((one) => one.stop()));
    await watch.close();
  }
}

/** Outcomes are written after the last receipt. Returns the position then. */
async function untilQuiet(
  walPosition: () => Promise<number>,
  from: number,
  seconds: number,
): Promise<number> {
  let last = await walPosition();
  const underLoad = (last - from) / seconds;
  for (const until = now() + quietTimeoutMs; now() < until;) {
    await sleep(quietMs);
    const position = await walPosition();
    const written = (position - last) / (quietMs / 1_000);
    last = position;
    if (written < Math.max(underLoad * quietShare, quietBytesPerSecond)) break;
  }
  return last;
}

interface Repeat {
  /** Rejects if one of the calls did. */
  stop(): Promise<void>;
}

function repeat(everyMs: number, call: () => unknown): Repeat {
  let isStopping = false;
  const run = async () => {
    for (let dueAt = now(); !isStopping; dueAt = Math.max(dueAt + everyMs, now())) {
      await sleep(Math.max(0, dueAt - now()));
      await call();
    }
  };
  const running = run();
  running.catch(() => undefined); // reported by stop
  return {
    stop: () => {
      isStopping = true;
      return running;
    },
  };
}

const shareOf = ({ waits }: Details, type: string) =>
  waits.find(({ event }) => event === type)?.sharePercent ?? 0;

export function costFigures(cost: Cost, deliveries: number): Figure[] {
  const perDelivery = Object.entries(cost.cpuUs).map(([name, us]) =>
    figure(`CPU per delivery: ${apart.includes(name) ? `(${name})` : name}`, 'µs', us / deliveries),
  );
  const rss = Object.entries(cost.rssPeakBytes).map(([role, bytes]) =>
    figure(`RSS peak, ${role}`, 'MB', bytes / 2 ** 20),
  );
  return [
    figure('CPU per delivery: total', 'µs', systemCpuUs(cost.cpuUs) / deliveries),
    ...perDelivery,
    figure('WAL per delivery', 'B', cost.walBytes / deliveries),
    figure('full-page images per 1,000 deliveries', '', (cost.fullPageImages * 1_000) / deliveries),
    figure('moments when a session waited for a Lock', '%', shareOf(cost.details, 'Lock')),
    figure('the same for an LWLock', '%', shareOf(cost.details, 'LWLock')),
    figure('deadlocks', '', cost.deadlocks),
    ...rss,
  ];
}
