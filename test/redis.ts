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

const program = ['redis-server', 'valkey-server'].find(
  (name) => spawnSync(name, ['--version'], { stdio: 'ignore' }).status === 0,
);

export const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });

/** A Redis of our own with the settings production asks for, in a new folder under `folder`; null where none is installed. */
export async function startRedis(folder: string, port?: number): Promise<RedisServer | null> {
  if (!program) return null;
  const listenPort = port ?? (await freePort());
  const dir = mkdtempSync(join(folder, 'redis-'));
  const args = ['--bind', '127.0.0.1', '--port', String(listenPort), '--dir', dir, '--save', ''];
  const child = spawn(program, [...args, '--appendonly', 'yes', '--maxmemory-policy', 'noeviction'], {
    stdio: 'ignore',
  });
  const url = `redis://127.0.0.1:${listenPort}`;
  await untilAnswers(url);
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

async function untilAnswers(url: string): Promise<void> {
  const probe = new Redis(url, { retryStrategy: () => 50, maxRetriesPerRequest: null });
  probe.on('error', () => undefined);
  const answered = await Promise.race([probe.ping(), sleep(10_000, 'late')]);
  probe.disconnect();
  if (answered === 'late') throw new Error('redis-server did not answer within 10 s');
}
