import { fileURLToPath } from 'node:url';
import { runner } from 'node-pg-migrate';
import pg from 'pg';
import type { Logger } from './logger.js';

const migrationsTable = 'migrations';
const lowestServerVersion = 150_000;

/**
 * Brings the schema up to date. Concurrent starters wait for one another on an advisory lock. Throws where the
 * server is older than PostgreSQL 15.
 */
export async function migrate(connectionString: string, logger: Logger): Promise<void> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 5_000 });
  client.on('error', () => undefined); // a connection lost here rejects the query under way
  await client.connect();
  try {
    const version = await client.query<{ server_version_num: string }>('show server_version_num');
    if (Number(version.rows[0]?.server_version_num) < lowestServerVersion) {
      throw new Error('PostgreSQL 15 or newer is needed');
    }
    const done = await runner({
      dbClient: client,
      dir: fileURLToPath(new URL('../migrations', import.meta.url)),
      migrationsTable,
      direction: 'up',
      advisoryLockMode: 'wait',
      log: () => undefined,
    });
    if (done.length > 0) logger.info({ migrations: done.map(({ name }) => name) }, 'migrated');
  } finally {
    await client.end();
  }
}
