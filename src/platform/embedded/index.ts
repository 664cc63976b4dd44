import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../logger.js';
import { prepareBinaries } from './binaries.js';
import { connectionStringFor, superuserConnectionString } from './database.js';
import { prepareFolder, type Folder } from './folder.js';
import { ownershipIn } from './owner.js';
import { findPostmaster, isPostmaster } from './postmaster.js';
import { asProblem } from './problem.js';
import { chooseRunner, run, type Runner } from './run-as.js';
import { bringUp, supervise, type Server } from './server.js';

const FAST_TIMEOUT_MS = 10_000;
const IMMEDIATE_TIMEOUT_MS = 6_000;
const KILL_TIMEOUT_MS = 2_000;

/** A running PostgreSQL 18 of our own. */
export interface EmbeddedPostgres {
  /** Database `parcelhook` as its owner, who is no superuser; stays valid over restarts of the server. */
  connectionString: string;
  /** The same as the server's superuser, for what is done to the server itself. */
  superuserConnectionString: string;
  /** Ends the server if this process looks after it. Close all pools first; calling twice does no harm. */
  stop(): Promise<void>;
}

/**
 * Starts PostgreSQL on `<dataDir>/postgres`, or takes over the one that a killed process left behind. From
 * then on it is restarted on the same port whenever it dies. If another living process started it already,
 * that one keeps looking after it: this one only uses it, and inherits it should the other go.
 * Rejects with one Error that says what is wrong and what to do.
 */
export async function startEmbeddedPostgres(options: {
  dataDir: string;
  logger: Logger;
}): Promise<EmbeddedPostgres> {
  const { dataDir, logger } = options;
  const startedAt = Date.now();
  const { server, up } = await begin(dataDir, logger).catch((error: unknown) => {
    throw asProblem(error, dataDir);
  });
  const { folder, owner } = server;
  const isOwner = owner.isMine();
  const durationMs = Date.now() - startedAt;
  logger.info(
    { port: up.port, isOwner, durationMs, dataDir: folder.dataDir },
    'embedded PostgreSQL is ready',
  );

  const stopping = new AbortController();
  const supervision = supervise(server, up.port, stopping.signal);
  let stopped: Promise<void> | undefined;
  return {
    connectionString: connectionStringFor(up.port, up.password),
    superuserConnectionString: superuserConnectionString(up.port, up.password),
    stop() {
      stopping.abort();
      stopped ??= supervision.then(() => end(server));
      return stopped;
    },
  };
}

async function begin(dataDir: string, logger: Logger) {
  const folder = await prepareFolder(dataDir);
  const runner = await chooseRunner(await prepareBinaries(), folder.dataDir);
  if (runner.owner?.uid === 0)
    logger.warn('embedded PostgreSQL runs with the uid of root: no other user could be used here');
  const server: Server = { folder, runner, owner: ownershipIn(folder.ownerFile), logger };
  try {
    const up = await bringUp(server);
    server.owner.claim(); // of one that was running already, if its owner is dead
    return { server, up };
  } catch (error) {
    await end(server);
    throw error;
  }
}

/** Only an owner ends the server; it gives up the ownership last, so that nobody starts one in between. */
async function end({ folder, runner, owner, logger }: Server): Promise<void> {
  if (!owner.isMine()) return;
  await shutDown(folder, runner, logger);
  owner.release();
}

/** Ends the server on the data folder, if one runs: politely, then with less and less regard. */
async function shutDown(folder: Folder, runner: Runner, logger: Logger): Promise<void> {
  const steps = [
    ['SIGINT', FAST_TIMEOUT_MS],
    ['SIGQUIT', IMMEDIATE_TIMEOUT_MS],
    ['SIGKILL', KILL_TIMEOUT_MS],
  ] as const;
  for (const [signal, timeoutMs] of steps) {
    const running = findPostmaster(folder.cluster);
    if (!running) return;
    if (signal !== 'SIGINT') logger.warn(`embedded PostgreSQL does not end, sending ${signal}`);
    // Windows has no signals: there Node would end it the hard way.
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
    // Gone already, or another user's: the wait that follows tells.
  }
}
