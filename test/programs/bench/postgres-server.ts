import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../../src/platform/embedded/index.js';
import {
  chooseRunner,
  commandLine,
  changeOwner,
  programOf,
  run,
  spawnOptions,
} from '../../../src/platform/embedded/run-as.js';
import { createLogger } from '../../../src/platform/telemetry/logger.js';
import { freePort } from '../../support/redis.js';

export interface PostgresServer {
  /** The address as superuser. */
  connectionString: string;
  pid: number;
  version: string;
  hasStatements: boolean;
  stop(): Promise<void>;
}

type Started = Pick<PostgresServer, 'connectionString' | 'stop'>;

const statementsLibrary = 'pg_stat_statements';

/** Starts one with every commit on disk, in an empty folder; the embedded one without `binDir`. */
export async function startPostgres(
  folder: string,
  binDir: string | undefined,
  withStatements: boolean,
): Promise<PostgresServer> {
  await mkdir(folder, { recursive: true });
  const start = (): Promise<Started> =>
    binDir === undefined
      ? startEmbeddedPostgres({ dataDir: folder, logger: createLogger('warn') }).then((server) => ({
          ...server,
          connectionString: server.superuserConnectionString,
        }))
      : startInstalled(folder, binDir);
  let started = await start();
  try {
    const hasStatements = withStatements && (await preload(started.connectionString));
    if (hasStatements) {
      await started.stop();
      started = await start();
    }
    return await withClient(started.connectionString, async (client) => {
      if (hasStatements) await client.query(`create extension if not exists ${statementsLibrary}`);
      const { rows } = await client.query<{ pid: string; version: string; fsync: string }>(
        `select split_part(pg_read_file('postmaster.pid'), E'\\n', 1) as pid,
                current_setting('server_version') as version, current_setting('fsync') as fsync`,
      );
      const { pid, version, fsync } = rows[0]!;
      if (fsync !== 'on') throw new Error('PostgreSQL runs without fsync: its figures would mean nothing');
      return { ...started, pid: Number(pid), version, hasStatements };
    });
  } catch (error) {
    await started.stop();
    throw error;
  }
}

/** Takes effect at the next start; false if the engine does not have it. */
const preload = (connectionString: string): Promise<boolean> =>
  withClient(connectionString, async (client) => {
    const { rowCount } = await client.query('select 1 from pg_available_extensions where name = $1', [
      statementsLibrary,
    ]);
    if (rowCount === 0) return false;
    await client.query(`alter system set shared_preload_libraries = '${statementsLibrary}'`);
    return true;
  });

async function withClient<T>(connectionString: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString });
  client.on('error', () => undefined);
  await client.connect();
  return use(client).finally(() => client.end());
}

const passwords = new Map<string, string>();

/** That server's own defaults, except for its address and connection limit. */
async function startInstalled(folder: string, binDir: string): Promise<Started> {
  const runner = await chooseRunner(dirname(resolve(binDir)), folder);
  const cluster = join(folder, 'cluster');
  let password = passwords.get(folder);
  if (password === undefined) {
    password = randomBytes(24).toString('base64url');
    passwords.set(folder, password);
    const passwordFile = join(folder, 'made', 'password');
    await mkdir(dirname(passwordFile));
    await writeFile(passwordFile, password, { mode: 0o600 });
    await changeOwner(runner, dirname(passwordFile));
    await mkdir(cluster, { mode: 0o700 });
    await changeOwner(runner, cluster);
    await run(runner, 'initdb', [
      ...['-D', cluster, '-U', 'postgres', `--pwfile=${passwordFile}`, '--auth=scram-sha-256'],
      ...['--encoding=UTF8', '--locale=C', '--data-checksums'],
    ]);
  }
  const port = await freePort();
  const settings = [`port=${port}`, 'listen_addresses=127.0.0.1', 'unix_socket_directories=', 'fsync=on'];
  const options = [...settings, 'max_connections=300'].flatMap((setting) => ['-c', setting]);
  const { command, args } = commandLine(runner, programOf(runner, 'postgres'), ['-D', cluster, ...options]);
  const logFile = join(folder, 'postgres.log');
  const logFd = openSync(logFile, 'a');
  // It runs in a session of its own, so that Ctrl-C does not end it before the service.
  const child = spawn(command, args, {
    ...spawnOptions(runner),
    detached: true,
    stdio: ['ignore', logFd, logFd],
  });
  closeSync(logFd);
  let hasEnded = false;
  const ended = new Promise<void>((done) => child.once('exit', done).once('error', () => done()));
  void ended.then(() => (hasEnded = true));
  const killAtExit = () => void child.kill('SIGQUIT');
  process.on('exit', killAtExit);
  const stop = async () => {
    process.off('exit', killAtExit);
    child.kill('SIGINT');
    await ended;
  };
  const connectionString = `postgresql://postgres:${password}@127.0.0.1:${port}/postgres`;
  for (const until = Date.now() + 30_000; ; await sleep(50)) {
    if (await responses(connectionString)) return { connectionString, stop };
    if (!hasEnded && Date.now() < until) continue;
    await stop();
    throw new Error(
      `PostgreSQL of ${binDir} does not start:\n${readFileSync(logFile, 'utf8').slice(-2_000)}`,
    );
  }
}

const responses = (connectionString: string): Promise<boolean> =>
  withClient(connectionString, (client) => client.query('select 1')).then(
    () => true,
    () => false,
  );
