import { fork, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export function rssMb(pid: number): number {
  return Math.round(rssBytes(pid) / 2 ** 20);
}

export function rssBytes(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1_024;
}

/** When a notification first arrived, and when it first got 200. */
export interface Receipt {
  arrivedAt: number;
  deliveredAt: number;
}

export interface BenchReceiver {
  url: string;
  pid: number;
  /** All, or those whose path begins with the segment `kind`. */
  count(kind?: string): Promise<{ received: number; lastAt: number }>;
  /** The first arrival of each tracking id on each path (`/path PH…`), by the clock of `now`. */
  arrivals(): Promise<Map<string, number>>;
  /** `delivered` counts notifications (a tracking id on a path) that got 200. */
  progress(): Promise<{ received: number; delivered: number; lastDeliveredAt: number }>;
  /** Every notification that got 200, by path and tracking id (`/path PH…`). */
  receipts(): Promise<Map<string, Receipt>>;
  /** Also closes those without a response. */
  reset(): Promise<void>;
  stop(): void;
}

/** `listen`: the address and the port, if it does not matter which. */
export async function startReceiverProcess(listen: string[] = []): Promise<BenchReceiver> {
  const child: ChildProcess = fork(fileURLToPath(new URL('./receiver.ts', import.meta.url)), listen, {
    execArgv: ['--import', 'tsx'],
  });
  const ended = once(child, 'exit').then(() => {
    throw new Error(`the receiver could not listen${listen.length > 0 ? ` at ${listen.join(':')}` : ''}`);
  });
  ended.catch(() => undefined);
  const [port] = (await Promise.race([once(child, 'message'), ended])) as [number];
  let asking: Promise<unknown> = Promise.resolve();
  const ask = <T>(question: string | object): Promise<T> => {
    const asked = asking.then(async () => {
      const response = once(child, 'message');
      child.send(question);
      return ((await response) as [T])[0];
    });
    asking = asked;
    return asked;
  };
  return {
    url: `http://127.0.0.1:${port}/`,
    pid: child.pid as number,
    count: (kind) => ask(kind === undefined ? 'count' : { countOf: kind }),
    arrivals: async () => new Map(await ask<[string, number][]>('arrivals')),
    progress: () => ask('progress'),
    receipts: async () => {
      const rows = await ask<[string, number, number][]>('receipts');
      return new Map(rows.map(([key, arrivedAt, deliveredAt]) => [key, { arrivedAt, deliveredAt }]));
    },
    reset: () => ask('reset'),
    stop: () => void child.kill(),
  };
}
