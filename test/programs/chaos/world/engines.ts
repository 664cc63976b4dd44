import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../../../src/platform/embedded/index.js';
import { createLogger } from '../../../../src/platform/telemetry/logger.js';
import { startWithClock } from './postgres-clock.js';
import { startRedis, type RedisServer } from '../../../support/redis.js';

const logger = createLogger('silent');

/** Functions to call at the end, in reverse order. */
export type Closing = (() => unknown)[];

export type RedisEngine = NonNullable<Awaited<ReturnType<typeof redisIn>>>;
export type PostgresEngine = Awaited<ReturnType<typeof postgresIn>>;

export async function sql<Row>(
  connectionString: string,
  text: string,
  values: unknown[] = [],
): Promise<Row[]> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 5_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query(text, values)).rows as Row[];
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Null if none is installed. */
export async function redisIn(folder: string, closing: Closing) {
  let server: RedisServer | null = await startRedis(folder);
  if (!server) return null;
  const { url } = server;
  closing.push(() => server?.stop());
  return {
    url,
    kill: async () => void (await server?.stop()),
    start: async () => void (server = await startRedis(folder, Number(new URL(url).port))),
    freeze: async (ms: number) => {
      const { pid } = server!;
      process.kill(pid, 'SIGSTOP');
      await sleep(ms);
      process.kill(pid, 'SIGCONT');
    },
    command: async (...[name, ...words]: string[]) => {
      const client = new Redis(url, { maxRetriesPerRequest: 0, commandTimeout: 15_000 });
      client.on('error', () => undefined);
      return client.call(name!, ...words).finally(() => client.disconnect());
    },
  };
}

export async function postgresIn(folder: string, closing: Closing, hasClock = false) {
  const begin = () => startEmbeddedPostgres({ dataDir: folder, logger });
  let server = await begin();
  const url = server.connectionString;
  closing.push(() => server.stop());
  if (hasClock) await server.stop();
  const setClock = hasClock ? await startWithClock(folder, url, closing) : null;
  const pool = new pg.Pool({ connectionString: url, max: 3 });
  pool.on('error', () => undefined);
  closing.push(() => pool.end());
  return {
    url,
    superuserUrl: server.superuserConnectionString,
    setClock,
    sql: async <Row>(text: string, values: unknown[] = []) => (await pool.query(text, values)).rows as Row[],
    crash: async () => {
      const file = readFileSync(join(folder, 'postgres', 'postmaster.pid'), 'utf8');
      process.kill(Number(file.split('\n')[0]), 'SIGQUIT');
      await server.stop();
    },
    start: async () => void (server = await begin()),
    /** Becomes like an old primary after a fail-over; or accepts writes again. */
    setReadOnly: async (setting: 'on' | 'off') => {
      const { superuserConnectionString: superuser } = server;
      await sql(superuser, `alter system set default_transaction_read_only = ${setting}`);
      await sql(superuser, 'select pg_reload_conf()');
    },
    locked: async (tables: string, ms: number) => {
      const client = await pool.connect();
      try {
        await client.query(`begin; lock table ${tables} in access exclusive mode`);
        await sleep(ms);
      } finally {
        client.release(true); // the transaction ends with its connection
      }
    },
  };
}
