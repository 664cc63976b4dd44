import { existsSync } from 'node:fs';
import { mkdir, open, readdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createHmac } from 'node:crypto';
import pg from 'pg';
import { type Folder, codeOf, messageOf, problem, useYourOwn } from './folder.js';
import { changeOwner, run, type Runner } from './run-as.js';

const superuser = 'parcelhook';
/** The role that owns the database and its contents, and nothing else on the server. */
const serviceRole = 'parcelhook_service';
const databaseName = 'parcelhook';
const queryTimeoutMs = 10_000;

export async function ensureCluster(folder: Folder, runner: Runner, password: string): Promise<void> {
  await removeHalfMade(folder);
  if (!existsSync(folder.cluster)) await makeCluster(folder, runner, password);
  await changeOwner(runner, folder.cluster);
}

/** initdb works in a staging folder, which is renamed at the end: killed at any point, it starts again. */
async function makeCluster(folder: Folder, runner: Runner, password: string): Promise<void> {
  const staging = `${folder.cluster}.new-${process.pid}`;
  const data = path.join(staging, 'data');
  const passwordFile = path.join(staging, 'password');
  try {
    await mkdir(staging, { mode: 0o700 });
    await writeFile(passwordFile, `${password}\n`, { mode: 0o600 });
    await changeOwner(runner, staging);
    await run(runner, 'initdb', [
      ...['-D', data, '-U', superuser, `--pwfile=${passwordFile}`, '--auth=scram-sha-256'],
      ...['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'],
      '--data-checksums',
    ]);
    await rename(data, folder.cluster);
    await syncFolder(folder.dataDir);
  } catch (error) {
    throw explain(error, folder);
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

function explain(error: unknown, folder: Folder): Error {
  if (codeOf(error) === 'ENOENT' && process.platform === 'linux') {
    return problem('its programs need glibc, which this system (musl?) lacks', useYourOwn, error);
  }
  const remedy = `free space in or choose another DATA_DIR, or ${useYourOwn}`;
  return problem(`cannot create a database in ${folder.dataDir}: ${messageOf(error)}`, remedy, error);
}

async function removeHalfMade(folder: Folder): Promise<void> {
  const prefix = `${path.basename(folder.cluster)}.new-`;
  for (const name of await readdir(folder.dataDir)) {
    if (!name.startsWith(prefix)) continue;
    // An orphaned initdb may still be writing there.
    await rm(path.join(folder.dataDir, name), {
      recursive: true,
      force: true,
      maxRetries: 5,
      retryDelay: 200,
    });
  }
}

async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  await handle.sync().finally(() => handle.close());
}

export const connectionStringFor = (port: number, password: string): string =>
  urlOf(port, serviceRole, servicePasswordOf(password));

export const superuserConnectionString = (port: number, password: string, database = databaseName): string =>
  urlOf(port, superuser, password, database);

/** Derived from the superuser's password without revealing it. */
const servicePasswordOf = (password: string): string =>
  createHmac('sha256', password).update(serviceRole).digest('base64url');

const urlOf = (port: number, user: string, password: string, database = databaseName): string =>
  `postgresql://${user}:${password}@127.0.0.1:${port}/${database}`;

/** Resolves when the service can use it; creates its role and database if they are missing. */
export async function ensureDatabase(port: number, password: string): Promise<void> {
  try {
    await query(connectionStringFor(port, password), 'SELECT 1');
  } catch (error) {
    // 3D000: no such database; 28P01: no such role, or another password
    if (!['3D000', '28P01'].includes(codeOf(error))) throw error;
    await makeDatabase(port, password);
    await query(
      superuserConnectionString(port, password),
      makeServiceRole(databaseName, servicePasswordOf(password)),
    );
  }
}

const makeDatabase = (port: number, password: string): Promise<void> =>
  query(superuserConnectionString(port, password, 'postgres'), `CREATE DATABASE ${databaseName}`).catch(
    (failure: unknown) => {
      if (codeOf(failure) !== '42P04') throw failure; // it exists
    },
  );

async function query(connectionString: string, sql: string): Promise<void> {
  const client = new pg.Client({
    connectionString,
    connectionTimeoutMillis: queryTimeoutMs,
    query_timeout: queryTimeoutMs,
  });
  client.on('error', () => undefined); // a lost connection also rejects the query
  try {
    await client.connect();
    await client.query(sql);
  } finally {
    await client.end().catch(() => undefined);
  }
}

const makeServiceRole = (database: string, password: string): string => `
  begin;
  do $$
  begin
    if not exists (select from pg_roles where rolname = '${serviceRole}') then
      create role ${serviceRole};
    end if;
    alter role ${serviceRole} login nosuperuser nocreatedb nocreaterole password '${password}';
    alter database ${database} owner to ${serviceRole};
  end $$;
  commit`;
