import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { createDatabase, dropDatabase, templateDatabase } from './database.js';
import { operatorToken, startProcess, stopProcess, type RunningProcess } from './process.js';

export { operatorToken, startProcess, stopProcess, type RunningProcess } from './process.js';

const databaseUrl = process.env.TEST_DATABASE_URL ?? '';
const redisUrl = process.env.TEST_REDIS_URL ?? '';
if (!databaseUrl) throw new Error('Run the tests with `npm test`: it starts the engines they need.');

export type Backend = 'postgres' | 'redis';

/** A file of `describe.each(backends)` alone runs once for each of them, concurrently (jest.config.js). */
export const backends: Backend[] = backendsOfThisRun();

function backendsOfThisRun(): Backend[] {
  const { queueBackend } = globalThis as { queueBackend?: Backend };
  if (queueBackend) return [queueBackend];
  return redisUrl ? ['postgres', 'redis'] : ['postgres'];
}

export interface Service {
  url: string;
  sql<Row = Record<string, unknown>>(text: string, values?: unknown[]): Promise<Row[]>;
  /** The settings for another process of the same deployment. */
  env: Record<string, string>;
  process: RunningProcess;
  stop(): Promise<void>;
}

/** Starts one with its own database and queue prefix, and one process (role `all`) of the built service. */
export async function startService(
  options: { backend?: Backend; env?: Record<string, string>; role?: string } = {},
): Promise<Service> {
  const name = `t_${randomBytes(6).toString('hex')}`;
  const ownDatabase = await createDatabase(databaseUrl, name, templateDatabase);
  const env: Record<string, string> = {
    DATABASE_URL: ownDatabase,
    QUEUE_PREFIX: name,
    TOKEN_SECRET: randomBytes(32).toString('hex'),
    SECRETS_KEY: randomBytes(32).toString('hex'),
    OPERATOR_TOKEN: operatorToken,
    ALLOW_PRIVATE_TARGETS: 'true',
    ALLOW_HTTP_TARGETS: 'true',
    PORT: '0',
    WEBHOOK_CREATION_LIMIT: '0',
    BY_HAND_LIMIT: '0',
    ...(options.backend === 'redis' && { REDIS_URL: redisUrl }),
    ...options.env,
  };
  const pool = new pg.Pool({ connectionString: ownDatabase, max: 3 });
  pool.on('error', () => undefined);
  const running = await startProcess(env, options.role);
  const service: Service = {
    url: running.url,
    env,
    process: running,
    sql: async <Row>(text: string, values: unknown[] = []) => (await pool.query(text, values)).rows as Row[],
    stop: async () => {
      await stopProcess(service.process);
      await pool.end();
      await dropDatabase(databaseUrl, name);
    },
  };
  return service;
}
