import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../logger.js';
import type { Folder } from './folder.js';
import { findPostmaster, isPostmaster } from './postmaster.js';
import { run, type Runner } from './run-as.js';

const FAST_TIMEOUT_MS = 10_000;
const IMMEDIATE_TIMEOUT_MS = 6_000;
const KILL_TIMEOUT_MS = 2_000;

/** Ends the server on the data folder, if one runs: politely, then with less and less regard. */
export async function shutDown(folder: Folder, runner: Runner, logger: Logger): Promise<void> {
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
