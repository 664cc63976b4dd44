import pg from 'pg';
import { USER } from './cluster.js';
import { codeOf } from './problem.js';

const DATABASE = 'parcelhook';
const ANSWER_TIMEOUT_MS = 10_000;

export function connectionStringFor(port: number, password: string, database = DATABASE): string {
  return `postgresql://${USER}:${password}@127.0.0.1:${port}/${database}`;
}

/** Resolves when the server answers a query in our database, which is created if missing. */
export async function ensureDatabase(port: number, password: string): Promise<void> {
  try {
    await query(connectionStringFor(port, password), 'SELECT 1');
  } catch (error) {
    if (codeOf(error) !== '3D000') throw error;
    await query(connectionStringFor(port, password, 'postgres'), `CREATE DATABASE ${DATABASE}`).catch(
      (failure: unknown) => {
        // 42P04, 23505: another process was first
        if (!['42P04', '23505'].includes(codeOf(failure))) throw failure;
      },
    );
  }
}

async function query(connectionString: string, sql: string): Promise<void> {
  const client = new pg.Client({
    connectionString,
    connectionTimeoutMillis: ANSWER_TIMEOUT_MS,
    query_timeout: ANSWER_TIMEOUT_MS,
  });
  client.on('error', () => undefined); // a lost connection also rejects the query
  try {
    await client.connect();
    await client.query(sql);
  } finally {
    await client.end().catch(() => undefined);
  }
}
