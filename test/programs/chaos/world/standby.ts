import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { appendFile, cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { until } from '../../bench/scenarios/scenario.js';
import { prepareBinaries } from '../../../../src/platform/embedded/binaries.js';
import {
  chooseRunner,
  commandLine,
  changeOwner,
  programOf,
  run,
  spawnOptions,
  type Runner,
} from '../../../../src/platform/embedded/run-as.js';
import { freePort } from '../../../support/redis.js';
import { sql, type Closing } from './engines.js';
import { proxyTo } from './proxied.js';
import type { FailingOver } from './redis-fail-over.js';

interface Server {
  port: number;
  url: string;
  child: ChildProcess;
}

const user = 'parcelhook';
const upWithinMs = 60_000;

export interface PostgresPair extends FailingOver {
  /** The address for the superuser, bypassing the proxy. */
  primaryUrl: string;
  standbyUrl: string;
  /** Later commits no longer reach the standby. Resolves with a time (epoch, in ms) before which all did. */
  cutOff(): Promise<number>;
  /** New connections lead to it; those to the primary stay. */
  promote(): Promise<void>;
}

/** Synchronous if requested. The proxy points to the standby once it is promoted, like a virtual address. */
export async function postgresWithStandby(
  folder: string,
  closing: Closing,
  isSynchronous: boolean,
): Promise<PostgresPair> {
  const runner = await chooseRunner(await prepareBinaries(), folder);
  const password = randomBytes(24).toString('base64url');
  const [first, second] = [join(folder, 'primary'), join(folder, 'standby')];
  await makeCluster(runner, folder, first, password);
  const begin = (data: string, settings: string[]) => start(runner, data, password, settings, closing);

  const empty = await begin(first, []);
  await sql(empty.url, 'create database parcelhook');
  await stop(empty, 'SIGINT');
  await cp(first, second, { recursive: true });
  await writeFile(join(second, 'standby.signal'), '');
  await changeOwner(runner, second);

  const primary = await begin(first, isSynchronous ? ['synchronous_standby_names=*'] : []);
  const conninfo = `host=127.0.0.1 port=${primary.port} user=${user} password=${password}`;
  await appendFile(join(second, 'postgresql.conf'), `primary_conninfo = '${conninfo}'\n`);
  const standby = await begin(second, []);
  const inState = isSynchronous ? 'sync' : 'async';
  await until('the standby follows', upWithinMs, async () => {
    const rows = await sql(
      primary.url,
      `select 1 from pg_stat_replication where state = 'streaming' and sync_state = $1`,
      [inState],
    );
    return rows.length === 1;
  });
  const proxy = await proxyTo(primary.url.replace(/postgres$/, 'parcelhook'), closing);
  const promote = async () => {
    await sql(standby.url, 'select pg_promote(true, 60)');
    await proxy.send({ targetPort: standby.port });
  };
  return {
    url: proxy.url,
    primaryUrl: primary.url,
    standbyUrl: standby.url,
    cutOff: async () => {
      const from = performance.timeOrigin + performance.now();
      const [now] = await sql<{ lsn: string }>(primary.url, 'select pg_current_wal_lsn()::text as lsn');
      await until('the standby has caught up', upWithinMs, async () => {
        const behind = 'select 1 where pg_last_wal_replay_lsn() < $1::pg_lsn';
        return (await sql(standby.url, behind, [now!.lsn])).length === 0;
      });
      await sql(standby.url, `alter system set primary_conninfo = ''`);
      await sql(standby.url, 'select pg_reload_conf()');
      await until('the standby is cut off', upWithinMs, async () => {
        const rows = await sql(standby.url, 'select 1 from pg_stat_wal_receiver');
        return rows.length === 0;
      });
      return from;
    },
    promote,
    failOver: async () => {
      await stop(primary, 'SIGQUIT');
      await promote();
    },
  };
}

async function makeCluster(runner: Runner, folder: string, data: string, password: string): Promise<void> {
  const made = join(folder, 'made');
  await mkdir(made);
  await writeFile(join(made, 'password'), password, { mode: 0o600 });
  await mkdir(data, { mode: 0o700 });
  for (const path of [made, data]) await changeOwner(runner, path);
  await run(runner, 'initdb', [
    ...['-D', data, '-U', user, `--pwfile=${join(made, 'password')}`, '--auth=scram-sha-256'],
    ...['--encoding=UTF8', '--locale=C', '--data-checksums'],
  ]);
}

async function start(
  runner: Runner,
  data: string,
  password: string,
  settings: string[],
  closing: Closing,
): Promise<Server> {
  const port = await freePort();
  const common = [`port=${port}`, 'listen_addresses=127.0.0.1', 'unix_socket_directories=', 'timezone=UTC'];
  const options = [...common, ...settings].flatMap((setting) => ['-c', setting]);
  const { command, args } = commandLine(runner, programOf(runner, 'postgres'), ['-D', data, ...options]);
  const child = spawn(command, args, { ...spawnOptions(runner), detached: true, stdio: 'ignore' });
  const server = { port, url: `postgresql://${user}:${password}@127.0.0.1:${port}/postgres`, child };
  const atExit = () => void child.kill('SIGQUIT');
  process.once('exit', atExit);
  closing.push(async () => {
    await stop(server, 'SIGQUIT');
    process.off('exit', atExit);
  });
  await until('PostgreSQL responds', upWithinMs, () =>
    sql(server.url, 'select 1').then(
      () => true,
      () => false,
    ),
  );
  return server;
}

async function stop({ child }: Server, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill(signal);
  await exited;
}
