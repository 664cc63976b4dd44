import { setTimeout as sleep } from 'node:timers/promises';
import { spawn, type ChildProcess } from 'node:child_process';
import { randomInt, createHmac } from 'node:crypto';
import { closeSync, fstatSync, openSync, readFileSync, existsSync } from 'node:fs';
import { readFile, writeFile, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { Logger } from '../telemetry/logger.js';
import { codeOf, describeError } from '../errors.js';
import {
  boundLog,
  readOrMakePassword,
  type Folder,
  problem,
  useYourOwn,
  clearStaleLock,
  findPostmaster,
  type Postmaster,
} from './folder.js';
import { commandLine, programOf, spawnOptions, type Runner, changeOwner, run } from './run-as.js';
import path from 'node:path';
import pg from 'pg';

export interface Server {
  folder: Folder;
  runner: Runner;
  logger: Logger;
}

/** Recovery after a crash reads up to max_wal_size of log. */
const upTimeoutMs = 120_000;
/** How long the processes of a killed server may keep its lock or its memory. */
const lockTimeoutMs = 20_000;
const pollMs = 15;
const relaunchMs = 250;

const checkMs = 1_000;
const backoffMs = 250;
const maxBackoffMs = 5_000;
const afterFailureMs = 1_000;
/** A server that has run for this long is restarted without delay. */
const steadyMs = 60_000;

/** A running server, whichever process started it, else a new one, on `fixedPort` if given. */
export async function bringUp(
  server: Server,
  fixedPort?: number,
  signal?: AbortSignal,
): Promise<{ port: number; password: string }> {
  const { folder } = server;
  let launched: Launch | undefined;
  let obstacle = 'it does not respond';
  const startedAt = Date.now();
  try {
    while (Date.now() - startedAt < upTimeoutMs) {
      signal?.throwIfAborted();
      const running = findPostmaster(folder.cluster);
      const failure = launched?.failure();
      if (running?.status === 'ready') {
        const password = await readOrMakePassword(folder);
        const refusal = await refusalOf(running, password, folder);
        if (refusal === undefined) return { port: running.port, password };
        obstacle = refusal;
      } else if (running) {
        obstacle = `it is still ${running.status || 'starting'}`;
      } else if (failure) {
        const mayPass = failure.isLockHeld && Date.now() - startedAt < lockTimeoutMs;
        const mayMove = failure.isPortTaken && fixedPort === undefined;
        if (!mayPass && !mayMove) throw notUp(folder, failure.reason);
        obstacle = failure.reason;
        launched = undefined;
        await sleep(relaunchMs);
      } else if (!launched) {
        launched = await startServer(server, fixedPort);
      }
      await sleep(pollMs);
    }
    throw notUp(folder, `not ready after ${upTimeoutMs / 1000} s: ${obstacle}`);
  } catch (error) {
    await launched?.cancel();
    throw error;
  }
}

async function startServer({ folder, runner }: Server, fixedPort?: number): Promise<Launch> {
  await ensureCluster(folder, runner, await readOrMakePassword(folder));
  return launch(folder, runner, fixedPort);
}

/** Why the running server cannot be used; undefined if it can. Throws if waiting will not help. */
async function refusalOf(running: Postmaster, password: string, folder: Folder): Promise<string | undefined> {
  try {
    await ensureDatabase(running.port, password);
    return undefined;
  } catch (error) {
    if (codeOf(error) !== '28P01') return describeError(error);
    throw problem(
      `the server on ${folder.cluster} refuses the password in ${folder.passwordFile}`,
      'restore that file from a backup',
      error,
    );
  }
}

function notUp(folder: Folder, reason: string): Error {
  return problem(
    `the server on ${folder.cluster} does not start:\n${reason}\n`,
    `see ${folder.logFile}; if it cannot be repaired, move ${folder.cluster} away, or ${useYourOwn}`,
  );
}

/** Restarts it on the same port. Does not keep the process alive. */
export async function supervise(server: Server, port: number, signal: AbortSignal): Promise<void> {
  const { folder, logger } = server;
  let upSince = Date.now();
  let restarts = 0;
  while (await pause(checkMs, signal)) {
    try {
      if (findPostmaster(folder.cluster)) continue;
      if (Date.now() - upSince > steadyMs) restarts = 0;
      const delayMs = restarts === 0 ? 0 : Math.min(backoffMs * 2 ** (restarts - 1), maxBackoffMs);
      restarts += 1;
      logger.warn({ port, delayMs }, 'embedded PostgreSQL died; restarting it');
      await pause(delayMs, signal);
      await bringUp(server, port, signal);
      upSince = Date.now();
    } catch (error) {
      if (signal.aborted) return;
      upSince = Date.now(); // time down does not count as time up
      logger.error(`embedded PostgreSQL did not restart; retrying: ${describeError(error)}`);
      await pause(afterFailureMs, signal);
    }
  }
}

async function pause(durationMs: number, signal: AbortSignal): Promise<boolean> {
  await sleep(durationMs, undefined, { ref: false, signal }).catch(() => undefined);
  return !signal.aborted;
}

interface Launch {
  /** Why it ended; undefined while it runs. */
  failure(): { reason: string; isLockHeld: boolean; isPortTaken: boolean } | undefined;
  cancel(): Promise<void>;
}

const cancelTimeoutMs = 10_000;

const serverSettings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: 300, // a process takes up to 42, and a killed one keeps its own for a while
  shared_buffers: '128MB',
  autovacuum_naptime: '30s', // rows of the outbox come and go: frequent vacuums keep it small
  // Accepted means committed to disk.
  fsync: 'on',
  synchronous_commit: 'on',
  // This level excludes replication; a crash loses nothing at it either.
  wal_level: 'minimal',
  max_wal_senders: 0,
  max_wal_size: '1GB',
  jit: 'off',
  // Parallel queries need more of /dev/shm than a container has.
  max_parallel_workers_per_gather: 0,
  timezone: 'UTC',
  log_timezone: 'UTC',
  // Failed statements have names and addresses; the client gets the error anyway.
  log_min_messages: 'log',
} as const;

/** The server runs in a session of its own, so that Ctrl-C reaches only us and we can drain first. */
async function launch(folder: Folder, runner: Runner, fixedPort?: number): Promise<Launch> {
  const port = fixedPort ?? (await choosePort(folder.portFile));
  clearStaleLock(folder.cluster);
  await boundLog(folder.logFile);
  const logFd = openSync(folder.logFile, 'a', 0o600);
  const logStart = fstatSync(logFd).size;
  const settings = Object.entries({ ...serverSettings, port }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ]);
  const program = programOf(runner, 'postgres');
  const { command, args } = commandLine(runner, program, ['-D', folder.cluster, ...settings]);
  const options = { ...spawnOptions(runner), detached: true };
  let child: ChildProcess;
  try {
    child = spawn(command, args, { ...options, stdio: ['ignore', logFd, logFd] });
  } finally {
    closeSync(logFd);
  }
  let spawnError: string | undefined;
  child.on('error', (error) => (spawnError = describeError(error)));
  child.unref();
  const runs = () => spawnError === undefined && child.exitCode === null && child.signalCode === null;
  return {
    failure() {
      if (runs()) return undefined;
      const text = readFileSync(folder.logFile).subarray(logStart).toString().trim();
      const tail = text.split('\n').slice(-8).join('\n');
      return {
        reason:
          (spawnError ?? tail) || `it ended with ${child.exitCode ?? child.signalCode} and logged nothing`,
        isLockHeld: /lock file "postmaster\.pid" already exists|pre-existing shared memory block/.test(text),
        isPortTaken: /could not bind|Address already in use/.test(text),
      };
    },
    async cancel() {
      const deadline = Date.now() + cancelTimeoutMs;
      if (runs()) child.kill('SIGINT');
      while (runs() && Date.now() < deadline) await sleep(10);
    },
  };
}

/** The last port if free, else one below the ephemeral ports: an outgoing connection could take those meanwhile. */
async function choosePort(portFile: string): Promise<number> {
  const last = Number(await readFile(portFile, 'utf8').catch(() => ''));
  if (Number.isInteger(last) && last > 1024 && last < 65_536 && (await isFree(last))) return last;
  for (let tries = 0; tries < 100; tries += 1) {
    const port = randomInt(20_000, 32_000);
    if (!(await isFree(port))) continue;
    await writeFile(portFile, `${port}\n`);
    return port;
  }
  throw problem(
    'no free port between 20000 and 32000 on 127.0.0.1',
    'stop some of the programs listening there',
  );
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)));
  });
}

const superuser = 'parcelhook';
/** The role that owns the database and its contents, and nothing else on the server. */
const serviceRole = 'parcelhook_service';
const databaseName = 'parcelhook';
const queryTimeoutMs = 10_000;

async function ensureCluster(folder: Folder, runner: Runner, password: string): Promise<void> {
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
  return problem(`cannot create a database in ${folder.dataDir}: ${describeError(error)}`, remedy, error);
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
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
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
async function ensureDatabase(port: number, password: string): Promise<void> {
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
