import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../telemetry/logger.js';
import { prepareBinaries } from './binaries.js';
import { connectionStringFor, superuserConnectionString } from './cluster.js';
import { prepareFolder, type Folder } from './folder.js';
import { findPostmaster, isPostmaster, takeFolder } from './processes.js';
import { asProblem } from './problem.js';
import { chooseRunner, run, type Runner } from './run-as.js';
import { bringUp, supervise, type Server } from './server.js';

const fastTimeoutMs = 10_000;
const immediateTimeoutMs = 6_000;
const killTimeoutMs = 2_000;

/** PostgreSQL 18. */
export interface EmbeddedPostgres {
  /** Database `parcelhook` as its owner, not a superuser. Stays valid across restarts of the server. */
  connectionString: string;
  superuserConnectionString: string;
  /** Close all pools first. Safe to repeat. */
  stop(): Promise<void>;
}

/**
 * On `<dataDir>/postgres`. Adopts the server that a killed process left behind, and restarts it on the same port whenever
 * it dies. Rejects with an Error that says what is wrong and what to do: a ConfigError while another live process uses
 * the folder.
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
