import { fork, type ChildProcess } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** CPU time a process has used so far, in microseconds; with `children`, those it has forked too (PostgreSQL). */
export function cpuUs(pid: number, children = false): number {
  const pids = children ? [pid, ...childrenOf(pid)] : [pid];
  return pids.reduce((sum, one) => sum + ownCpuUs(one), 0);
}

const ticksPerSecond = 100; // USER_HZ on Linux
const statFields = (pid: number): string[] => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
};

/** utime and stime, and those of its children that have ended. */
function ownCpuUs(pid: number): number {
  const ticks = statFields(pid)
    .slice(11, 15)
    .reduce((sum, field) => sum + Number(field), 0);
  return (ticks * 1e6) / ticksPerSecond;
}

function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((candidate) => Number(statFields(candidate)[1]) === pid);
}

export function rssMb(pid: number): number {
  const kb = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Math.round(Number(kb ?? 0) / 1024);
}

export interface BenchReceiver {
  url: string;
  pid: number;
  /** All requests, or those whose path begins with the segment `kind`. */
  count(kind?: string): Promise<{ received: number; lastAt: number }>;
  /** When each tracking id arrived first on each path (`/path PH…`), in milliseconds since 1970 with fractions. */
  arrivals(): Promise<Map<string, number>>;
  reset(): Promise<void>;
  stop(): void;
}

export async function startReceiverProcess(): Promise<BenchReceiver> {
  const child: ChildProcess = fork(fileURLToPath(new URL('./receiver.ts', import.meta.url)), {
    execArgv: ['--import', 'tsx'],
  });
  const [port] = (await once(child, 'message')) as [number];
  let asking: Promise<unknown> = Promise.resolve();
  const ask = <T>(question: string | object): Promise<T> => {
    const asked = asking.then(async () => {
      const answer = once(child, 'message');
      child.send(question);
      return ((await answer) as [T])[0];
    });
    asking = asked;
    return asked;
  };
  return {
    url: `http://127.0.0.1:${port}/`,
    pid: child.pid as number,
    count: (kind) => ask(kind === undefined ? 'count' : { countOf: kind }),
    arrivals: async () => new Map(await ask<[string, number][]>('arrivals')),
    reset: () => ask('reset'),
    stop: () => void child.kill(),
  };
}
