import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { createDatabase, dropDatabase, templateDatabase } from './database.js';
import { deployment } from './deployment.js';
import { startProcess, stopProcess, type RunningProcess } from './process.js';

export { operatorToken, startProcess, stopProcess, type RunningProcess } from './process.js';

const databaseUrl = process.env.TEST_DATABASE_URL ?? '';
const redisUrl = process.env.TEST_REDIS_URL ?? '';
if (!databaseUrl) throw new Error('Run the tests with `npm test`: it starts the engines they need.');

export type Backend = 'postgres' | 'redis';

/** Those that there are, for a test of one queue beside the other. */
export const backends: Backend[] = redisUrl ? ['postgres', 'redis'] : ['postgres'];

/** The queue of this run (test/run.ts): the tests of jobs and of limits run on each, all others on one. */
export const queue: Backend = process.env.TEST_QUEUE === 'redis' && redisUrl ? 'redis' : 'postgres';

export interface Service {
  url: string;
  sql<Row = Record<string, unknown>>(text: string, values?: unknown[]): Promise<Row[]>;
  /** The settings of another process of the same deployment. */
  env: Record<string, string>;
  process: RunningProcess;
  stop(): Promise<void>;
}

type Env = Record<string, string>;

/** Starts one with settings that the shared service does not have (shared-service.ts). */
export const startServiceWith = (env: Env, role = 'all') => startService({ env, role });

/** Starts one that may be killed, stopped, restarted, or cut off from its engines. */
export const startServiceToBreak = (env: Env = {}, role = 'all') => startService({ env, role });

/** Starts one whose metrics, log lines and rows of all accounts are those of one test. */
export const startServiceToInspect = (env: Env = {}, role = 'all') => startService({ env, role });

/** Starts one of a role that passes work to another process, as `all` does not. */
export const startServiceOfRole = (role: 'api' | 'worker', env: Env = {}) => startService({ env, role });

/** With its own database and queue prefix, and one process of the built service. */
export async function startService(
  options: { backend?: Backend; env?: Env; role?: string } = {},
): Promise<Service> {
  const name = `t_${randomBytes(6).toString('hex')}`;
  const env = deployment(await createDatabase(databaseUrl, name, templateDatabase), {
    ...((options.backend ?? queue) === 'redis' && { REDIS_URL: redisUrl }),
    ...options.env,
  });
  const pool = new pg.Pool({ connectionString: env.DATABASE_URL!, max: 3 });
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
