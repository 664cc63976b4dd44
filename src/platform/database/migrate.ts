import { readdirSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { packageFolder } from '../../version.js';
import { ApiError } from '../errors.js';
import type { Logger } from '../logger.js';
import type { Database } from './postgres.js';

const migrationsTable = 'migrations';
const folder = path.join(packageFolder, 'src/migrations');
const lowestServerVersion = 150_000;
/** The first migrations of builds from before the first release. */
const earlierSchemas = ['0001-first-schema', '0001-schema'];

/** Takes PostgreSQL's `server_version_num`. Throws where it is older than 15. */
export function requireServerVersion(version: number): void {
  if (version >= lowestServerVersion) return;
  throw new Error(`PostgreSQL 15 or newer is needed, this one is ${Math.floor(version / 10_000)}`);
}

/** The database holds the data of a build from before the first release, whose schema is not carried over. */
export class EarlierBuildError extends Error {
  constructor() {
    super(
      'this database was made by an earlier build, whose data is not carried over. Nothing in it was changed. Start with an empty database, or with another DATA_DIR',
    );
  }
}

/** The names of the migrations that were run. Throws EarlierBuildError. */
async function migrationsRun(client: pg.Client): Promise<Set<string>> {
  const { rows } = await client.query<{ found: boolean }>(
    `select to_regclass('${migrationsTable}') is not null as found`,
  );
  if (!rows[0]?.found) return new Set();
  const run = await client.query<{ name: string }>(`select name from ${migrationsTable}`);
  const names = new Set(run.rows.map(({ name }) => name));
  if (earlierSchemas.some((name) => names.has(name))) throw new EarlierBuildError();
  return names;
}

const migrationsKnown = () => readdirSync(folder).map((file) => path.basename(file, '.sql'));

/**
 * Brings the schema up to date. Concurrent starters wait for one another on an advisory lock. Throws where the
 * server is older than PostgreSQL 15, and EarlierBuildError.
 */
export async function migrate(connectionString: string, logger: Logger): Promise<void> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 5_000 });
  client.on('error', () => undefined); // a connection lost here rejects the query under way
  await client.connect();
  try {
    const version = await client.query<{ server_version_num: string }>('show server_version_num');
    requireServerVersion(Number(version.rows[0]?.server_version_num));
    const run = await migrationsRun(client);
    if (migrationsKnown().every((name) => run.has(name))) return;
    const { runner } = await import('node-pg-migrate'); // a tenth of a second that most starts can do without
    const done = await runner({
      dbClient: client,
      dir: folder,
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

/**
 * Answers a check that rejects while PostgreSQL is older than 15 or lacks a migration this program needs, as after
 * the restore of an old dump. Migrations it does not know are no fault: in a rolling upgrade a newer program has
 * been here, and migrations leave the previous version working.
 */
export function schemaCheck(db: Database): () => Promise<void> {
  const needed = migrationsKnown();
  return async () => {
    const { version, missing } = await readSchema(db, needed).catch((error: unknown) => {
      throw error instanceof ApiError ? new Error('PostgreSQL is out of reach') : error;
    });
    requireServerVersion(Number(version));
    if (missing.length > 0) throw new Error(`the schema lacks ${missing.join(', ')}`);
  };
}

async function readSchema(db: Database, needed: string[]): Promise<{ version: string; missing: string[] }> {
  const rows = await db.query<{ version: string; missing: string[] }>(
    'read-schema',
    `select current_setting('server_version_num') as version,
            array(select unnest($1::text[]) except select name from ${migrationsTable} order by 1) as missing`,
    [needed],
  );
  return rows[0]!;
}
