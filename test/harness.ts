import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { createDatabase, dropDatabase, templateDatabase } from './database.js';

const databaseUrl = process.env.TEST_DATABASE_URL ?? '';
const redisUrl = process.env.TEST_REDIS_URL ?? '';
if (!databaseUrl) throw new Error('Run the tests with `npm test`: it starts the engines they need.');

export type Backend = 'postgres' | 'redis';

/** The queue backends that can be tested here; `npm test` says so where Redis is missing. */
export const backends: Backend[] = redisUrl ? ['postgres', 'redis'] : ['postgres'];

export const operatorToken = 'operator-token-of-the-tests';

export interface Service {
  url: string;
  /** The service's own database, for looking at rows. */
  sql<Row = Record<string, unknown>>(text: string, values?: unknown[]): Promise<Row[]>;
  /** The environment it runs with, for starting another process of the same deployment. */
  env: Record<string, string>;
  process: RunningProcess;
  stop(): Promise<void>;
}

export interface RunningProcess {
  url: string;
  pid: number;
  /** Everything written so far to stdout and stderr. */
  output(): string;
  kill(signal: NodeJS.Signals): void;
  /** Exit code, or the signal that ended it. */
  exited: Promise<number | string>;
}

/** A deployment with its own database and queue prefix, and one process (role `all`) of the built service. */
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

const children = new Set<ChildProcess>();

/** Starts one process of a deployment and resolves when it listens; rejects with its output if it ends before. */
export async function startProcess(env: Record<string, string>, role = 'all'): Promise<RunningProcess> {
  const main = fileURLToPath(new URL('../dist/main.js', import.meta.url));
  const child = spawn(process.execPath, ['--enable-source-maps', main, role], {
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.add(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const exited = new Promise<number | string>((resolve) =>
    child.once('exit', (code, signal) => {
      children.delete(child);
      resolve(code ?? signal ?? 'unknown');
    }),
  );
  const running = {
    url: '',
    pid: child.pid as number,
    output: () => output,
    kill: (signal: NodeJS.Signals) => void child.kill(signal),
    exited,
  };
  const until = Date.now() + 20_000;
  for (;;) {
    const url = /"url":"([^"]+)"[^\n]*"msg":"started"/.exec(output)?.[1];
    if (url) return { ...running, url };
    if (child.exitCode !== null || child.signalCode !== null || Date.now() > until) {
      child.kill('SIGKILL');
      throw new Error(`the service did not start:\n${output}`);
    }
    await sleep(20);
  }
}

export async function stopProcess(running: RunningProcess): Promise<number | string> {
  running.kill('SIGTERM');
  const exit = await Promise.race([running.exited, sleep(20_000, 'late')]);
  if (exit === 'late') running.kill('SIGKILL');
  return exit;
}

// A test that fails half-way leaves no process behind.
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});
