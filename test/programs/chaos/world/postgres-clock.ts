import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { prepareBinaries } from '../../../../src/platform/embedded/binaries.js';
import { chooseRunner, commandLine, spawnOptions } from '../../../../src/platform/embedded/run-as.js';
import { until } from '../../bench/scenarios/scenario.js';
import { NotRunnable } from './disk.js';
import type { Closing } from './engines.js';

/** Resolves when PostgreSQL returns that time. */
export type SetClock = (offsetMs: number) => Promise<void>;

const upWithinMs = 60_000;
/** libfaketime reads its file this often at most. */
const heardWithinMs = 5_000;

/** Starts it on the data folder, with the same command and an adjustable clock (Debian's package libfaketime). */
export async function startWithClock(dataDir: string, url: string, closing: Closing): Promise<SetClock> {
  const library = libraryOf();
  const cluster = join(dataDir, 'postgres');
  const words = readFileSync(join(cluster, 'postmaster.opts'), 'utf8').trim();
  const [program, ...args] = words.split(/ (?=")/).map((word) => word.replace(/^"|"$/g, ''));
  const { uid, gid } = statSync(join(cluster, 'PG_VERSION'));
  const file = join(cluster, 'faketime');
  const write = (offsetMs: number) =>
    writeFileSync(file, `${offsetMs < 0 ? '-' : '+'}${Math.abs(offsetMs) / 1_000}`);
  write(0);
  if (process.getuid?.() === 0) chownSync(file, uid, gid);
  const runner = await chooseRunner(await prepareBinaries(), dataDir);
  const options = spawnOptions(runner);
  const line = commandLine(runner, program!, args);
  const child = spawn(line.command, line.args, {
    ...options,
    detached: true,
    stdio: 'ignore',
    env: {
      ...options.env,
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_CACHE_DURATION: '1',
      DONT_FAKE_MONOTONIC: '1',
    },
  });
  const atExit = () => void child.kill('SIGQUIT');
  process.once('exit', atExit);
  closing.push(async () => {
    await end(child);
    process.off('exit', atExit);
  });
  const offByMs = async () => {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
    client.on('error', () => undefined);
    try {
      await client.connect();
      const { rows } = await client.query<{ ms: number }>(
        'select extract(epoch from clock_timestamp())::float8 * 1000 as ms',
      );
      return rows[0]!.ms - Date.now();
    } finally {
      await client.end().catch(() => undefined);
    }
  };
  await until('PostgreSQL responds', upWithinMs, () =>
    offByMs().then(
      () => true,
      () => false,
    ),
  );
  return async (offsetMs) => {
    write(offsetMs);
    const giveUpAt = performance.now() + heardWithinMs;
    while (Math.abs((await offByMs()) - offsetMs) > 1_000) {
      if (performance.now() > giveUpAt)
        throw new NotRunnable('libfaketime does not set the clock of PostgreSQL here');
      await sleep(100);
    }
  };
}

function libraryOf(): string {
  const found = readdirSync('/usr/lib')
    .map((name) => join('/usr/lib', name, 'faketime', 'libfaketime.so.1'))
    .find((path) => existsSync(path));
  if (!found) throw new NotRunnable('libfaketime is not installed (Debian: apt-get install libfaketime)');
  return found;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGQUIT');
  await exited;
}
