import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { productionOptions } from '../../support/process.js';
import { freePort } from '../../support/redis.js';
import { now } from './clock.js';

export interface ServiceProcess {
  role: string;
  url: string;
  pid: number;
  /** The time from its start until the first 200 of `/readyz`. */
  readyMs: number;
  /** Throws, with the end of its log, if it has ended unexpectedly. */
  check(): void;
  stop(): Promise<void>;
}

export interface Build {
  dist: string;
  node: string;
  nodeOptions: string[];
}

const readyTimeoutMs = 60_000;
const stopTimeoutMs = 30_000;
const children = new Set<ChildProcess>();

export async function startServiceProcess(
  { dist, node, nodeOptions }: Build,
  role: string,
  env: Record<string, string>,
  logFile: string,
): Promise<ServiceProcess> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const logFd = openSync(logFile, 'w');
  const startedAt = now();
  const file = join(dist, 'main.js');
  const child = spawn(node, [...productionOptions(file), ...nodeOptions, file, role], {
    env: { PATH: process.env.PATH ?? '', ...env, PORT: String(port) },
    stdio: ['ignore', logFd, logFd],
  });
  closeSync(logFd);
  children.add(child);
  let isStopping = false;
  let spawnError: Error | undefined;
  child.once('error', (error) => (spawnError = error));
  const exited = new Promise<void>((resolve) => {
    child.once('exit', resolve);
    child.once('error', () => resolve());
  });
  void exited.then(() => children.delete(child));
  const hasEnded = () => spawnError !== undefined || child.exitCode !== null || child.signalCode !== null;
  const check = () => {
    if (!hasEnded() || isStopping) return;
    const how = spawnError?.message ?? child.exitCode ?? child.signalCode;
    throw new Error(`the service (${role}) ended: ${how}\n${readFileSync(logFile, 'utf8').slice(-2_000)}`);
  };
  const stop = async () => {
    isStopping = true;
    if (hasEnded()) return;
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs);
    await exited;
    clearTimeout(timer);
  };
  try {
    while (!(await isReady(url))) {
      check();
      if (now() - startedAt > readyTimeoutMs)
        throw new Error(`not ready in ${readyTimeoutMs} ms:\n${readFileSync(logFile, 'utf8').slice(-2_000)}`);
      await sleep(5);
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return { role, url, pid: child.pid as number, readyMs: now() - startedAt, check, stop };
}

async function isReady(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2_000) });
    await response.arrayBuffer();
    return response.status === 200;
  } catch {
    return false;
  }
}

export async function stopServiceProcesses(): Promise<void> {
  const ends = [...children].map((child) => new Promise((resolve) => child.once('exit', resolve)));
  for (const child of children) child.kill('SIGTERM');
  await Promise.race([Promise.all(ends), sleep(10_000)]);
}

// No service outlives the bench, however it ends.
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});
