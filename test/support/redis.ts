import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';

export interface RedisServer {
  url: string;
  pid: number;
  stop(): Promise<void>;
}

export const redisProgram = ['redis-server', 'valkey-server'].find(
  (name) => spawnSync(name, ['--version'], { stdio: 'ignore' }).status === 0,
);

/** Below the ephemeral ports: clients that keep reconnecting to a stopped server might otherwise occupy its port. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    const server = createServer();
    const free = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true));
    });
    await new Promise((resolve) => server.close(resolve));
    if (free) return port;
  }
}

/** Starts one with production settings, in a new folder under `folder`; null if none is installed. */
export async function startRedis(
  folder: string,
  port?: number,
  settings: string[] = [],
): Promise<RedisServer | null> {
  if (!redisProgram) return null;
  const listenPort = port ?? (await freePort());
  const dir = mkdtempSync(join(folder, 'redis-'));
  const args = ['--bind', '127.0.0.1', '--port', String(listenPort), '--dir', dir, '--save', ''];
  const durable = ['--appendonly', 'yes', '--maxmemory-policy', 'noeviction'];
  const child = spawn(redisProgram, [...args, ...durable, ...settings], { stdio: 'ignore' });
  const url = `redis://127.0.0.1:${listenPort}`;
  await untilResponds(url).catch((error: unknown) => {
    child.kill('SIGKILL');
    throw error;
  });
  return {
    url,
    pid: child.pid as number,
    stop: async () => {
      const exited = new Promise((resolve) => child.once('exit', resolve));
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await exited;
    },
  };
}

async function untilResponds(url: string): Promise<void> {
  const probe = new Redis(url, { retryStrategy: () => 50, maxRetriesPerRequest: null });
  probe.on('error', () => undefined);
  const outcome = await Promise.race([probe.ping(), sleep(10_000, 'late')]);
  probe.disconnect();
  if (outcome === 'late') throw new Error('redis-server did not respond within 10 s');
}
