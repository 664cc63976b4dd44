import { setTimeout as sleep } from 'node:timers/promises';
import { findPostmaster } from './postmaster.js';
import { messageOf } from './problem.js';
import { bringUp, type Server } from './server.js';

const CHECK_MS = 200;
const BACKOFF_MS = 250;
const BACKOFF_LIMIT_MS = 5_000;
const AFTER_FAILURE_MS = 1_000;
/** A server that ran this long is restarted at once when it dies. */
const STEADY_MS = 60_000;

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
