import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { startRedis } from '../../support/redis.js';
import { startPostgres, type PostgresServer } from './postgres-server.js';
import type { Build } from './service-process.js';

/** Its own engines run as long as the bench does. */
export interface System {
  name: string;
  build: Build;
  nodeVersion: string;
  env: Record<string, string>;
  folder: string;
  postgres: PostgresServer;
  /** Null if none is installed. */
  redis: { url: string; pid: number; version: string; clear(): Promise<void> } | null;
  stop(): Promise<void>;
}

export interface SystemPlan {
  name: string;
  build: Build;
  env: Record<string, string>;
  folder: string;
  /** Undefined for the embedded one. */
  postgresBinDir: string | undefined;
  withStatements: boolean;
}

export async function startSystem(plan: SystemPlan): Promise<System> {
  const { name, build, env, folder } = plan;
  if (!existsSync(join(build.dist, 'main.js')))
    throw new Error(`no main.js in ${build.dist}: build it first`);
  const nodeVersion = execFileSync(build.node, ['--version'], { encoding: 'utf8' }).trim();
  const postgres = await startPostgres(join(folder, 'postgres'), plan.postgresBinDir, plan.withStatements);
  try {
    const redis = await startOwnRedis(folder);
    return {
      name,
      build,
      nodeVersion,
      env,
      folder,
      postgres,
      redis,
      stop: async () => void (await Promise.allSettled([redis?.stop(), postgres.stop()])),
    };
  } catch (error) {
    await postgres.stop();
    throw error;
  }
}

async function startOwnRedis(folder: string) {
  const server = await startRedis(folder);
  if (!server) return null;
  const observer = new Redis(server.url);
  observer.on('error', () => undefined);
  const version = /redis_version:(\S+)/.exec(await observer.info('server'))?.[1] ?? 'unknown';
  const kill = () => void process.kill(server.pid, 'SIGKILL');
  process.on('exit', kill);
  return {
    url: server.url,
    pid: server.pid,
    version,
    clear: async () => void (await observer.flushall()),
    stop: async () => {
      process.off('exit', kill);
      observer.disconnect();
      await server.stop();
    },
  };
}
