import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import type pg from 'pg';
import { packageFolder } from '../version.js';
import { heedDatabaseTime } from '../clock.js';
import { ApiError, codeOf, ConfigError, describeError } from '../errors.js';
import type { Logger } from '../telemetry/logger.js';
import { withConnection, beginWith, noTransactionTimeout } from './connection.js';
import { requireWritable, type Database } from './postgres.js';

const folder = path.join(packageFolder, 'src/migrations');
const lowestServerVersion = 150_000;
/** A waiting migration delays all sessions behind it. It gives up before their statements time out, and is retried. */
const lockTimeoutMs = 1_500;
const lockNotAvailable = '55P03';

/** Reported by a process that waits because its role may not migrate, with the reason behind it. */
export const waitingForSchema = 'waiting for the schema: run the api, or parcelhook migrate';

export interface Migration {
  name: string;
  sha256: string;
}

export function requireServerVersion(version: number): void {
  if (version >= lowestServerVersion) return;
  throw new Error(`PostgreSQL 15 or newer is required, this server is ${Math.floor(version / 10_000)}`);
}

const byName = (one: Migration, other: Migration) => (one.name < other.name ? -1 : 1);

/** Line endings are normalised: a checkout may have changed them. */
function knownMigrations(): (Migration & { text: string })[] {
  const files = readdirSync(folder).filter((file) => file.endsWith('.sql'));
  return files
    .map((file) => {
      const text = readFileSync(path.join(folder, file), 'utf8').replaceAll('\r\n', '\n');
      const sha256 = createHash('sha256').update(text).digest('hex');
      return { name: path.basename(file, '.sql'), sha256, text };
    })
    .sort(byName);
}

/**
 * Throws ConfigError if an applied migration differs from this program's at the same position. Migrations after the
 * last known one belong to a newer program; this one works with them.
 */
function pendingMigrations<Known extends Migration>(known: Known[], applied: Migration[]): Known[] {
  const inOrder = [...applied].sort(byName);
  const isSame = (one: Migration, other: Migration) => one.name === other.name && one.sha256 === other.sha256;
  const differing = inOrder.find((one, at) => at < known.length && !isSame(one, known[at]!));
  if (differing)
    throw new ConfigError(
      `The database was made by another build: its migration ${differing.name} differs from this program's. Nothing was changed. Start the build that made it, or use an empty database (DATABASE_URL, or another DATA_DIR)`,
    );
  return known.slice(inOrder.length);
}

/** Rows as JSON, because the table of an earlier build has no column for hashes; then none matches. */
const appliedQuery = `coalesce((select jsonb_agg(to_jsonb(m)) from migrations m), '[]')`;

async function appliedMigrations(client: pg.Client): Promise<Migration[]> {
  const { rows } = await client.query<{ found: boolean }>(
    `select to_regclass('migrations') is not null as found`,
  );
  if (!rows[0]!.found) return [];
  const applied = await client.query<{ applied: Migration[] }>(`select ${appliedQuery} as applied`);
  return applied.rows[0]!.applied;
}

/** Settings of a session would be refused by a pooler, or stay with a connection that others use after us. */
export const beginImpatient = [
  beginWith({ lock_timeout: lockTimeoutMs, statement_timeout: 0 }),
  noTransactionTimeout('transaction'),
].join('; ');

/** Options of a connection for work that opens its own transactions. */
export const impatient = { settings: { lock_timeout: lockTimeoutMs, statement_timeout: 0 } };

export const inTransactions = { settings: null };

/**
 * Returns the names of the migrations that ran. Each is a transaction; concurrent starts wait for one another. Throws
 * if the server is older than PostgreSQL 15 or a lock is not available in time, and ConfigError if the database was
 * made by another build.
 */
export function migrate(connectionString: string, logger: Logger): Promise<string[]> {
  return withConnection(connectionString, inTransactions, async (client) => {
    const version = await client.query<{ server_version_num: string }>('show server_version_num');
    requireServerVersion(Number(version.rows[0]?.server_version_num));
    const known = knownMigrations();
    await client.query(beginImpatient);
    const applied = await appliedMigrations(client);
    await client.query('commit');
    const done: string[] = [];
    for (const { name } of pendingMigrations(known, applied))
      if (await runNext(client, known, name)) done.push(name);
    if (done.length > 0) logger.info({ migrations: done }, 'migrated');
    return done;
  });
}

async function runNext(
  client: pg.Client,
  known: (Migration & { text: string })[],
  name: string,
): Promise<boolean> {
  try {
    await client.query(beginImpatient);
    await client.query(`select pg_advisory_xact_lock(hashtext('parcelhook-migrations'))`);
    const next = pendingMigrations(known, await appliedMigrations(client)).find((one) => one.name === name);
    if (next) {
      await client.query(
        `create table if not exists migrations (
           name text primary key, sha256 text not null, run_at timestamptz not null default now())`,
      );
      await client.query(next.text);
      await client.query('insert into migrations (name, sha256) values ($1, $2)', [name, next.sha256]);
    }
    await client.query('commit');
    return next !== undefined;
  } catch (error) {
    if (codeOf(error) !== lockNotAvailable) throw error;
    const message = `migration ${name} did not run: another session held a lock it needs for ${lockTimeoutMs} ms`;
    throw Object.assign(new Error(message, { cause: error }), { code: lockNotAvailable });
  }
}

/** Rejects while PostgreSQL is before 15 or read-only, or its schema lacks a migration or is another build's. */
export function schemaCheck(db: Database): () => Promise<void> {
  const known = knownMigrations().map(({ name, sha256 }) => ({ name, sha256 }));
  return async () => {
    const sentAtMs = performance.now();
    const { version, applied, isReadOnly, nowMs } = await readSchema(db).catch((error: unknown) => {
      throw error instanceof ApiError
        ? new Error(`PostgreSQL is unreachable: ${describeError(error.cause)}`)
        : error;
    });
    heedDatabaseTime(nowMs, sentAtMs);
    requireServerVersion(Number(version));
    const missing = pendingMigrations(known, applied).map(({ name }) => name);
    if (missing.length > 0) throw new Error(`the schema lacks ${missing.join(', ')}`);
    if (isReadOnly) await requireWritable(db);
  };
}

interface Schema {
  version: string;
  isReadOnly: boolean;
  nowMs: number;
  applied: Migration[];
}

async function readSchema(db: Database): Promise<Schema> {
  const rows = await db.query<Schema>(
    'read-schema',
    `select current_setting('server_version_num') as version,
            current_setting('transaction_read_only')::boolean as "isReadOnly",
            (extract(epoch from now()) * 1000)::float8 as "nowMs", ${appliedQuery} as applied`,
  );
  return rows[0]!;
}
