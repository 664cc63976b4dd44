import { spawn, type ChildProcess } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { boundLog, type Folder } from './folder.js';
import { clearStaleLock } from './postmaster.js';
import { messageOf, problem } from './problem.js';
import { commandLine, programOf, spawnOptions, type Runner } from './run-as.js';

/** A server process that we started, as far as its start-up is concerned. */
export interface Launch {
  /** Why it ended at once, or undefined while it runs. */
  failure(): { reason: string; isLockHeld: boolean; isPortTaken: boolean } | undefined;
  /** Ends it although it may not have come up yet; for the way out after an error. */
  cancel(): Promise<void>;
}

const CANCEL_TIMEOUT_MS = 10_000;

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: 300, // a process takes up to 42, and what was killed holds its own for a while
  shared_buffers: '128MB',
  autovacuum_naptime: '15s', // what is owed comes and goes: its table is small if it is swept often
  // Accepted means committed, and committed means on disk.
  fsync: 'on',
  synchronous_commit: 'on',
  // Nobody replicates from it; a crash loses nothing at this level either.
  wal_level: 'minimal',
  max_wal_senders: 0,
  max_wal_size: '1GB',
  jit: 'off',
  // Parallel queries need more of /dev/shm than a container gives, and gain nothing on two cores.
  max_parallel_workers_per_gather: 0,
  timezone: 'UTC',
  log_timezone: 'UTC',
  // Failed statements hold names and addresses; the client gets the error anyway.
  log_min_messages: 'log',
} as const;

/** Starts the server in a session of its own, so that Ctrl-C reaches us alone and we can drain first. */
export async function launch(folder: Folder, runner: Runner, fixedPort?: number): Promise<Launch> {
  const port = fixedPort ?? (await choosePort(folder.portFile));
  clearStaleLock(folder.cluster);
  await boundLog(folder.logFile);
  const logFd = openSync(folder.logFile, 'a', 0o600);
  const logStart = fstatSync(logFd).size;
  const settings = Object.entries({ ...SETTINGS, port }).flatMap(([name, value]) => [
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
  child.on('error', (error) => (spawnError = messageOf(error)));
  child.unref();
  const runs = () => spawnError === undefined && child.exitCode === null && child.signalCode === null;
  return {
    failure() {
      if (runs()) return undefined;
      const text = readFileSync(folder.logFile).subarray(logStart).toString().trim();
      const tail = text.split('\n').slice(-8).join('\n');
      return {
        reason:
          (spawnError ?? tail) || `it ended with ${child.exitCode ?? child.signalCode} and said nothing`,
        isLockHeld: /lock file "postmaster\.pid" already exists|pre-existing shared memory block/.test(text),
        isPortTaken: /could not bind|Address already in use/.test(text),
      };
    },
    async cancel() {
      const deadline = Date.now() + CANCEL_TIMEOUT_MS;
      if (runs()) child.kill('SIGINT');
      while (runs() && Date.now() < deadline) await sleep(10);
    },
  };
}

/**
 * The port used last if it is free, else another. Below the range from which systems give ports to outgoing
 * connections: one of ours could otherwise take the server's port while it is down.
 */
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
    'end some of the programs listening there',
  );
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)));
  });
}
