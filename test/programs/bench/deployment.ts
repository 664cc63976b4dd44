import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import pg from 'pg';
import { describeError } from '../../../src/platform/errors.js';
import { registerAccount, registerWebhook, type Account } from '../../support/client.js';
import { createDatabase, dropDatabase } from '../../support/database.js';
import { operatorToken } from '../../support/process.js';
import { startPgbouncer } from '../../support/pgbouncer.js';
import { startReceiverProcess, type BenchReceiver } from './processes.js';
import { startServiceProcess, type ServiceProcess } from './service-process.js';
import type { Shape } from './shapes.js';
import type { System } from './system.js';

export interface Deployment {
  system: System;
  shape: Shape;
  databaseUrl: string;
  url: string;
  processes: ServiceProcess[];
  receiver: BenchReceiver;
  account: Account;
  /** Throws if a process has ended. */
  check(): void;
}

/** PgBouncer's connections to the database, where it stands in between. */
const pooledConnections = 20;

/** Custom headers, as real webhooks and receivers have. */
const ownHeaders = { 'X-Shop-Token': 'c2hvcC10b2tlbi1vZi10aGUtYmVuY2g', 'X-Team': 'logistics' };

export function serviceEnv(system: System, shape: Shape, databaseUrl: string): Record<string, string> {
  if (shape.queue === 'redis' && !system.redis) throw new Error('no redis-server or valkey-server on PATH');
  const secret = () => randomBytes(32).toString('hex');
  return {
    DATABASE_URL: databaseUrl,
    ...(shape.queue === 'redis' && { REDIS_URL: system.redis!.url }),
    TOKEN_SECRET: secret(),
    SECRETS_KEY: secret(),
    OPERATOR_TOKEN: operatorToken,
    API_RATE_LIMIT: '0', // a limit would measure one shipper's share
    STORED_BYTES_PER_DAY: '0',
    ALLOW_PRIVATE_TARGETS: 'true',
    ALLOW_HTTP_TARGETS: 'true',
    WEBHOOK_CREATION_LIMIT: '0',
    BY_HAND_LIMIT: '0',
    ...system.env,
  };
}

/** Starts one on empty engines, removed when `use` has ended in any way. */
export async function withDeployment<T>(
  system: System,
  shape: Shape,
  use: (deployment: Deployment) => Promise<T>,
): Promise<T> {
  return withDatabase(system, async (databaseUrl) => {
    const pgbouncer =
      system.env.DATABASE_POOLER === 'transaction'
        ? await startPgbouncer(databaseUrl, { connections: pooledConnections })
        : null;
    const env = serviceEnv(system, shape, pgbouncer?.url(databaseUrl) ?? databaseUrl);
    const receiver = await startReceiverProcess();
    const processes: ServiceProcess[] = [];
    const logFiles: string[] = [];
    const start = async (role: string, n = 0) => {
      const logFile = join(system.folder, `${role}-${n}.log`);
      logFiles.push(logFile);
      processes.push(await startServiceProcess(system.build, role, env, logFile));
    };
    try {
      await start(shape.workers === 0 ? 'all' : 'api');
      for (let n = 0; n < shape.workers; n += 1) await start('worker', n);
      const url = processes[0]!.url;
      const account = await registerAccount({ url });
      const check = () => processes.forEach((one) => one.check());
      return await use({ system, shape, databaseUrl, url, processes, receiver, account, check });
    } catch (error) {
      throw new Error([describeError(error), ...logFiles.flatMap(complaints)].join('\n'), { cause: error });
    } finally {
      receiver.stop(); // first, so that requests under way fail at once
      await Promise.all(processes.map((one) => one.stop()));
      await pgbouncer?.stop();
    }
  });
}

function complaints(logFile: string): string[] {
  const lines = readFileSync(logFile, 'utf8').split('\n');
  const found = lines.filter((line) => /"level":("warn"|"error"|"fatal"|[456]0)/.test(line));
  return found.slice(-5).map((line) => `  ${basename(logFile)}: ${line.slice(0, 600)}`);
}

/** An empty database; afterwards the server has no work left for it. */
export async function withDatabase<T>(system: System, use: (databaseUrl: string) => Promise<T>): Promise<T> {
  const { connectionString } = system.postgres;
  const name = `bench_${randomBytes(4).toString('hex')}`;
  try {
    return await use(await createDatabase(connectionString, name, null));
  } finally {
    await dropDatabase(connectionString, name);
    const client = new pg.Client({ connectionString });
    await client.connect();
    await client.query('checkpoint').finally(() => client.end());
    await system.redis?.clear();
  }
}

/** One for all states per kind of receiver (receiver.ts); returns their paths. */
export async function registerWebhooks(deployment: Deployment, kinds: string[]): Promise<string[]> {
  const paths = kinds.map((kind, n) => `/${kind}/${n}`);
  for (const path of paths) {
    const address = new URL(path, deployment.receiver.url).href;
    await registerWebhook(deployment.account, address, { headers: ownHeaders });
  }
  return paths;
}
