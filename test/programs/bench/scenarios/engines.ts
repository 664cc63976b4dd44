import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../../../src/platform/embedded/index.js';
import { createLogger } from '../../../../src/platform/telemetry/logger.js';
import { operatorToken, startProcess, stopProcess } from '../../../support/process.js';
import { startRedis } from '../../../support/redis.js';
import { startPostgres } from '../postgres-server.js';
import { startReceiverProcess, type BenchReceiver } from '../processes.js';

/** One process of role `all`, or an API and a worker, to separate the worker's memory and CPU. */
export type Roles = 'all' | 'split';

export interface Deployment {
  url: string;
  workerPid: number;
  stop(): Promise<void>;
}

export interface Engines {
  receiver: BenchReceiver;
  /** Null if the queue is on PostgreSQL. */
  redis: { keys(): Promise<number>; usedMb(): Promise<number> } | null;
  sql<Row = Record<string, unknown>>(text: string, values?: unknown[]): Promise<Row[]>;
  deploy(roles: Roles, env?: Record<string, string>): Promise<Deployment>;
  stop(): Promise<void>;
}

/** Null if Redis is requested and none is installed. */
export async function startEngines(queue: string, withStatements = false): Promise<Engines | null> {
  const folder = mkdtempSync(join(tmpdir(), 'parcelhook-scenario-'));
  const redis = queue === 'redis' ? await startRedis(folder) : null;
  if (queue === 'redis' && !redis) return null;
  const postgres = withStatements
    ? await startPostgres(folder, undefined, true)
    : await startEmbeddedPostgres({ dataDir: folder, logger: createLogger('warn') });
  const pool = new pg.Pool({ connectionString: postgres.connectionString, max: 2 });
  pool.on('error', () => undefined);
  const receiver = await startReceiverProcess();
  const observer = redis && new Redis(redis.url);
  const secret = () => randomBytes(32).toString('hex');
  const env = {
    DATABASE_URL: postgres.connectionString,
    ...(redis && { REDIS_URL: redis.url }),
    TOKEN_SECRET: secret(),
    SECRETS_KEY: secret(),
    OPERATOR_TOKEN: operatorToken,
    API_RATE_LIMIT: '0',
    STORED_BYTES_PER_DAY: '0',
    ALLOW_PRIVATE_TARGETS: 'true',
    ALLOW_HTTP_TARGETS: 'true',
    WEBHOOK_CREATION_LIMIT: '0',
    BY_HAND_LIMIT: '0',
    PORT: '0',
    LOG_LEVEL: process.env.BENCH_LOG_LEVEL ?? 'info',
  };
  const running = new Set<Deployment>();
  return {
    receiver,
    redis: observer && {
      keys: () => observer.dbsize(),
      usedMb: async () => Number(/used_memory:(\d+)/.exec(await observer.info('memory'))?.[1]) / 2 ** 20,
    },
    sql: async <Row>(text: string, values: unknown[] = []) => (await pool.query(text, values)).rows as Row[],
    deploy: async (roles, more = {}) => {
      const settings = { ...env, ...more };
      const first = await startProcess(settings, roles === 'all' ? 'all' : 'api');
      const worker = roles === 'all' ? first : await startProcess(settings, 'worker');
      const deployment = {
        url: first.url,
        workerPid: worker.pid,
        stop: async () => {
          running.delete(deployment);
          await Promise.all([...new Set([first, worker])].map(stopProcess));
        },
      };
      running.add(deployment);
      return deployment;
    },
    stop: async () => {
      await Promise.all([...running].map((deployment) => deployment.stop()));
      receiver.stop();
      observer?.disconnect();
      await pool.end();
      await Promise.allSettled([redis?.stop(), postgres.stop()]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
