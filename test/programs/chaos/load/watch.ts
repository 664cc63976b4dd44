import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Figure } from '../../bench/scenarios/scenario.js';

const descriptors = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;

/** Counts those on the service's side (Linux), which have an inode. */
export function heldFrom(clientPorts: ReadonlySet<number>, servicePort: number): number {
  const portOf = (address = '') => parseInt(address.slice(address.indexOf(':') + 1), 16);
  const lines = ['tcp', 'tcp6'].flatMap((file) =>
    readFileSync(`/proc/net/${file}`, 'utf8').split('\n').slice(1),
  );
  return lines.filter((line) => {
    const [, local, remote, , , , , , , inode] = line.trim().split(/\s+/);
    return portOf(local) === servicePort && clientPorts.has(portOf(remote)) && inode !== '0';
  }).length;
}

export const residentMb = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024;

export function watchProcess(pid: number) {
  let [maxMb, maxOpen] = [0, 0];
  const look = () => {
    maxMb = Math.max(maxMb, residentMb(pid));
    maxOpen = Math.max(maxOpen, descriptors(pid));
  };
  const timer = setInterval(look, 100);
  return () => {
    clearInterval(timer);
    look();
    return { maxMb, maxOpen };
  };
}

const probeEveryMs = 100;
const probeTimeoutMs = 5_000;

export function probeHealth(url: string): { stop(): Promise<{ slowestMs: number; figures: Figure[] }> } {
  let stopped = false;
  let [asked, slowestMs] = [0, 0];
  const failures: string[] = [];
  const probing = (async () => {
    for (; !stopped; await sleep(probeEveryMs)) {
      const startedAt = performance.now();
      await fetch(`${url}/healthz`, {
        headers: { connection: 'close' },
        signal: AbortSignal.timeout(probeTimeoutMs),
      }).then(
        ({ status }) => void (status === 200 || failures.push(String(status))),
        (error: Error) => void failures.push(error.name === 'TimeoutError' ? 'late' : 'broken'),
      );
      asked += 1;
      slowestMs = Math.max(slowestMs, performance.now() - startedAt);
    }
  })();
  return {
    stop: async () => {
      stopped = true;
      await probing;
      const note = `of ${asked}, the slowest ${Math.round(slowestMs)} ms; ${[...new Set(failures)].join(', ')}`;
      const figure = { name: '/healthz failures', value: failures.length, unit: '', atMost: 0, note };
      return { slowestMs, figures: [figure] };
    },
  };
}
