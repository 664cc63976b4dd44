import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../logger.js';
import { ensureCluster } from './cluster.js';
import { ensureDatabase } from './database.js';
import { readOrMakePassword, type Folder } from './folder.js';
import { launch, type Launch } from './launch.js';
import type { Ownership } from './owner.js';
import { findPostmaster, type Postmaster } from './postmaster.js';
import { USE_YOUR_OWN, codeOf, messageOf, problem } from './problem.js';
import type { Runner } from './run-as.js';

export interface Server {
  folder: Folder;
  runner: Runner;
  owner: Ownership;
  logger: Logger;
}

/** Long, because recovery after a crash reads up to max_wal_size of log. */
const UP_TIMEOUT_MS = 120_000;
/** How long the remains of a killed server may hold its lock or its memory. */
const LOCK_TIMEOUT_MS = 20_000;
const POLL_MS = 15;
const RELAUNCH_MS = 250;

const CHECK_MS = 1_000;
const BACKOFF_MS = 250;
const BACKOFF_LIMIT_MS = 5_000;
const AFTER_FAILURE_MS = 1_000;
/** A server that ran this long is restarted at once when it dies. */
const STEADY_MS = 60_000;

/**
 * Resolves when a server on the data folder answers: the one that runs already, whoever started it, or a
 * new one if there is none and we own the folder. With `fixedPort` a new one gets that port or none.
 */
export async function bringUp(
  server: Server,
  fixedPort?: number,
  signal?: AbortSignal,
): Promise<{ port: number; password: string }> {
  const { folder, owner } = server;
  let launched: Launch | undefined;
  let obstacle = 'another process owns it, but has not brought it up';
  const startedAt = Date.now();
  try {
    while (Date.now() - startedAt < UP_TIMEOUT_MS) {
      signal?.throwIfAborted();
      const running = findPostmaster(folder.cluster);
      const failure = launched?.failure();
      if (running?.status === 'ready') {
        const password = await readOrMakePassword(folder);
        const refusal = await answers(running, password, folder);
        if (refusal === undefined) return { port: running.port, password };
        obstacle = refusal;
      } else if (running) {
        obstacle = `it is still ${running.status || 'starting'}`;
      } else if (failure) {
        const mayPass = failure.isLockHeld && Date.now() - startedAt < LOCK_TIMEOUT_MS;
        const mayMove = failure.isPortTaken && fixedPort === undefined;
        if (!mayPass && !mayMove) throw notUp(folder, failure.reason);
        obstacle = failure.reason;
        launched = undefined;
        await sleep(RELAUNCH_MS);
      } else if (!launched && owner.claim()) {
        launched = await startServer(server, fixedPort);
      }
      await sleep(POLL_MS);
    }
    throw notUp(folder, `no answer after ${UP_TIMEOUT_MS / 1000} s: ${obstacle}`);
  } catch (error) {
    await launched?.cancel();
    throw error;
  }
}

async function startServer({ folder, runner }: Server, fixedPort?: number): Promise<Launch> {
  await ensureCluster(folder, runner, await readOrMakePassword(folder));
  return launch(folder, runner, fixedPort);
}

/** Undefined if it answers, else why not; throws where waiting will not help. */
async function answers(running: Postmaster, password: string, folder: Folder): Promise<string | undefined> {
  try {
    await ensureDatabase(running.port, password);
    return undefined;
  } catch (error) {
    if (codeOf(error) !== '28P01') return messageOf(error);
    throw problem(
      `the server on ${folder.cluster} refuses the password in ${folder.passwordFile}`,
      'restore that file from where you saved it',
      error,
    );
  }
}

function notUp(folder: Folder, reason: string): Error {
  return problem(
    `the server on ${folder.cluster} does not start:\n${reason}\n`,
    `see ${folder.logFile}; if it cannot be mended, move ${folder.cluster} away, or ${USE_YOUR_OWN}`,
  );
}

/**
 * Restarts the server on the same port whenever it dies and we own it; takes the ownership over when its
 * owner is gone. Does not keep the process alive. Resolves after `signal` is aborted.
 */
export async function supervise(server: Server, port: number, signal: AbortSignal): Promise<void> {
  const { folder, owner, logger } = server;
  let upSince = Date.now();
  let restarts = 0;
  while (await pause(CHECK_MS, signal)) {
    try {
      if (!owner.claim() || findPostmaster(folder.cluster)) continue;
      if (Date.now() - upSince > STEADY_MS) restarts = 0;
      const delayMs = restarts === 0 ? 0 : Math.min(BACKOFF_MS * 2 ** (restarts - 1), BACKOFF_LIMIT_MS);
      restarts += 1;
      logger.warn({ port, delayMs }, 'embedded PostgreSQL died, restarting it');
      await pause(delayMs, signal);
      await bringUp(server, port, signal);
      upSince = Date.now();
    } catch (error) {
      if (signal.aborted) return;
      upSince = Date.now(); // being down is not being steady
      logger.error(`embedded PostgreSQL was not restarted: ${messageOf(error)}`);
      await pause(AFTER_FAILURE_MS, signal);
    }
  }
}

/** False if it was ended by the signal. */
async function pause(durationMs: number, signal: AbortSignal): Promise<boolean> {
  await sleep(durationMs, undefined, { ref: false, signal }).catch(() => undefined);
  return !signal.aborted;
}
