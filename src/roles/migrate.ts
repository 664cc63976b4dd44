import pRetry from 'p-retry';
import type pg from 'pg';
import { parseConfig } from '../config/config.js';
import { withConnection } from '../platform/database/connection.js';
import { beginImpatient, impatient, inTransactions, migrate } from '../platform/database/migrate.js';
import { isOutOfReach } from '../platform/database/postgres.js';
import { describeError } from '../platform/errors.js';
import { migrateQueue, queueSchema } from '../platform/queue/backends.js';
import { createLogger, type Logger } from '../platform/telemetry/logger.js';

/** Covers a server that is starting, or a lock that will soon be released. */
const patience = { retries: Infinity, minTimeout: 250, maxTimeout: 5_000, maxRetryTime: 120_000 };

/**
 * Prints the migrations. It uses the role of MIGRATION_DATABASE_URL, so that no process of the service needs that
 * role's password. If both addresses are set, it grants the role of DATABASE_URL access.
 */
export async function runMigrations(): Promise<void> {
  const { DATABASE_URL, MIGRATION_DATABASE_URL, REDIS_URL } = parseConfig(process.env, 'migrate');
  const options = {
    migrationUrl: (MIGRATION_DATABASE_URL ?? DATABASE_URL)!,
    databaseUrl: MIGRATION_DATABASE_URL === undefined ? undefined : DATABASE_URL,
    withQueue: REDIS_URL === undefined,
    logger: createLogger('silent'),
  };
  // The first process of a container receives only signals that it handles.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  const done = await pRetry(() => migrateUnderOwnRole(options), {
    ...patience,
    shouldRetry: ({ error }) => isOutOfReach(error),
    onFailedAttempt: ({ error }) => void process.stderr.write(`${describeError(error)}; trying again\n`),
  });
  const lines = done.length > 0 ? done.map((name) => `Migrated: ${name}`) : ['The schema is up to date.'];
  process.stdout.write(`${lines.join('\n')}\n`);
}

export interface MigrationRoleOptions {
  /** Its role runs the migrations and owns what they create. */
  migrationUrl: string;
  /** Its role may read and write, and owns nothing. If undefined, no other role is granted access. */
  databaseUrl: string | undefined;
  withQueue: boolean;
  logger: Logger;
}

/**
 * The role of `migrationUrl` takes over what the role of `databaseUrl` owned, and grants the latter access. Returns the
 * names of the migrations that ran. Safe to run concurrently, and beside a running service.
 */
export async function migrateUnderOwnRole(options: MigrationRoleOptions): Promise<string[]> {
  const { migrationUrl, databaseUrl, withQueue, logger } = options;
  const service =
    databaseUrl === undefined ? null : await withConnection(databaseUrl, inTransactions, currentLogin);
  const admit = async () => {
    if (service)
      await withConnection(migrationUrl, inTransactions, (client) => admitService(client, service));
  };
  await admit(); // the default privileges cover what is created next
  if (withQueue) {
    await withConnection(migrationUrl, impatient, migrateQueue);
    await admit(); // processes without the migration role then wait for the migrations alone
  }
  const done = await migrate(migrationUrl, logger);
  await admit();
  return done;
}

interface Login {
  role: string;
  database: string;
}

async function currentLogin(client: pg.Client): Promise<Login> {
  const { rows } = await client.query<Login>('select current_user as role, current_database() as database');
  return rows[0]!;
}

/** Grants everything in one transaction: no process meets a table that was taken over but not granted yet. */
async function admitService(client: pg.Client, service: Login): Promise<void> {
  const own = await currentLogin(client);
  if (own.database !== service.database)
    throw new Error('MIGRATION_DATABASE_URL and DATABASE_URL must name the same database');
  if (own.role === service.role)
    throw new Error('MIGRATION_DATABASE_URL and DATABASE_URL must name different roles');
  await client.query(beginImpatient);
  await client.query(`select pg_advisory_xact_lock(hashtext('parcelhook-grants'))`);
  await takeOver(client, service.role, own.role);
  const { rows } = await client.query<{ statement: string }>(grantsNeeded, [service.role, queueSchema]);
  for (const { statement } of rows) await client.query(statement);
  await client.query('commit');
}

async function takeOver(client: pg.Client, from: string, to: string): Promise<void> {
  const { rows } = await client.query<{ statement: string }>(
    `select format('reassign owned by %I to %I', $1::text, $2::text) as statement
       from pg_roles r
      where rolname = $1
        and (exists (select from pg_class where relowner = r.oid)
             or exists (select from pg_proc where proowner = r.oid)
             or exists (select from pg_namespace where nspowner = r.oid)
             or exists (select from pg_database where datdba = r.oid and datname = current_database()))`,
    [from, to],
  );
  if (!rows[0]) return;
  await client.query(rows[0].statement).catch((error: Error) => {
    throw new Error(
      `the role "${from}" of DATABASE_URL owns tables that "${to}" of MIGRATION_DATABASE_URL may not take over (${error.message}): grant "${from}" to "${to}"`,
    );
  });
}

/** The privileges that the role $1 lacks in our schema and in the queue's ($2), now and for later tables. */
const grantsNeeded = `
  with schemas as (
    select oid, nspname from pg_namespace where nspname in (current_schema(), $2) and pg_has_role(nspowner, 'USAGE')
  ), needed (relkind, privileges, kind) as (
    values ('r'::"char", 'select, insert, update, delete', 'table'),
           ('p', 'select, insert, update, delete', 'table'),
           ('S', 'usage, select', 'sequence')
  )
  select format('grant usage on schema %I to %I', nspname, $1::text) as statement
    from schemas where not has_schema_privilege($1, oid, 'USAGE')
  union all
  select format('grant %s on %s %s to %I', privileges, kind, c.oid::regclass, $1::text)
    from pg_class c join needed n on n.relkind = c.relkind join pg_namespace s on s.oid = c.relnamespace
   where nspname in (current_schema(), $2) and not relispartition and pg_has_role(relowner, 'USAGE')
     and exists (select from regexp_split_to_table(privileges, ', ') as privilege
                  where not case kind when 'sequence' then has_sequence_privilege($1, c.oid, privilege)
                                      else has_table_privilege($1, c.oid, privilege) end)
  union all
  select format('revoke insert, update, delete on %s from %I', migrations, $1::text)
    from to_regclass('migrations') as migrations where has_table_privilege($1, migrations, 'INSERT')
  union all
  select format('grant execute on function %s to %I', p.oid::regprocedure, $1::text)
    from pg_proc p join pg_namespace s on s.oid = p.pronamespace
   where nspname in (current_schema(), $2) and prokind = 'f' and pg_has_role(proowner, 'USAGE')
     and not has_function_privilege($1, p.oid, 'EXECUTE')
  union all
  select format('alter default privileges in schema %I grant %s to %I', current_schema(), privileges, $1::text)
    from unnest(array['select, insert, update, delete on tables', 'usage, select on sequences',
                      'execute on functions']) as privileges`;
