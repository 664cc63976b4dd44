import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  chooseRunner,
  commandLine,
  changeOwner,
  programOf,
  run,
  spawnOptions,
} from '../../src/platform/embedded/run-as.js';
import { sql } from '../programs/chaos/world/engines.js';
import { until } from '../support/until.js';
import { freePort } from '../support/redis.js';

const packages = '/usr/lib/postgresql';
const needed = ['initdb', 'postgres', 'psql', 'pg_dump', 'pg_restore', 'pg_basebackup'];

/**
 * The newest PostgreSQL that Debian's packages have installed with all its programs, or null. The embedded one has
 * neither pg_dump nor pg_basebackup, and those of an older version refuse a newer server.
 */
export const installedPostgres: string | null = newest();

function newest(): string | null {
  const versions = existsSync(packages) ? readdirSync(packages) : [];
  const whole = versions.filter((version) =>
    needed.every((program) => existsSync(join(packages, version, 'bin', program))),
  );
  const version = whole.sort((a, b) => Number(b) - Number(a))[0];
  return version === undefined ? null : join(packages, version);
}

export interface OwnPostgres {
  /** The address for the superuser, in the database `parcelhook`. */
  url: string;
  dataFolder: string;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts one in an empty folder, on a port that stays the same. */
export async function ownPostgres(installed: string, folder: string): Promise<OwnPostgres> {
  const runner = await chooseRunner(installed, folder);
  const [dataFolder, made] = [join(folder, 'data'), join(folder, 'made')];
  const [port, password] = [await freePort(), 'of-the-drill'];
  for (const path of [dataFolder, made]) await mkdir(path, { mode: 0o700 });
  await writeFile(join(made, 'password'), password);
  for (const path of [dataFolder, made]) await changeOwner(runner, path);
  await run(runner, 'initdb', [
    ...['-D', dataFolder, '-U', 'parcelhook', `--pwfile=${join(made, 'password')}`, '--auth=scram-sha-256'],
    ...['--encoding=UTF8', '--locale=C'],
  ]);
  const settings = [`port=${port}`, 'listen_addresses=127.0.0.1', 'unix_socket_directories=', 'timezone=UTC'];
  const options = settings.flatMap((setting) => ['-c', setting]);
  const server = `postgresql://parcelhook:${password}@127.0.0.1:${port}`;
  let child: ChildProcess | undefined;

  async function start(): Promise<void> {
    await changeOwner(runner, dataFolder);
    const { command, args } = commandLine(runner, programOf(runner, 'postgres'), [
      '-D',
      dataFolder,
      ...options,
    ]);
    child = spawn(command, args, { ...spawnOptions(runner), stdio: 'ignore' });
    const answers = () =>
      sql(`${server}/postgres`, 'select 1').then(
        () => true,
        () => false,
      );
    await until('PostgreSQL answers', answers, 60_000);
  }
  async function stop(): Promise<void> {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGINT');
    await exited;
  }

  await start();
  await sql(`${server}/postgres`, 'create database parcelhook');
  return { url: `${server}/parcelhook`, dataFolder, start, stop };
}
