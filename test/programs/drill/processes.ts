import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdirSync, openSync, closeSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Closing } from '../chaos/world/engines.js';

/** PostgreSQL refuses to run as root. */
function unprivileged(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n');
  const [, , uid, gid] = lines.find((line) => line.startsWith('postgres:'))!.split(':');
  return { uid: Number(uid), gid: Number(gid) };
}

const user = unprivileged();
const unprivilegedEnv = { PATH: process.env.PATH, HOME: '/nonexistent', LC_ALL: 'C', TZ: 'UTC' };

export function give(path: string): string {
  if (user.uid !== undefined) chownSync(path, user.uid, user.gid!);
  return path;
}

export function makeFolder(path: string): string {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  return give(path);
}

export const run = (file: string, args: string[], cwd: string, input?: string): void =>
  void execFileSync(file, args, { cwd, stdio: 'pipe', input, timeout: 60_000 });

export const runUnprivileged = (file: string, args: string[]): void =>
  void execFileSync(file, args, { ...user, env: unprivilegedEnv, cwd: '/', stdio: 'pipe', timeout: 60_000 });

export interface Daemon {
  child: ChildProcess;
  end(signal: NodeJS.Signals): Promise<void>;
}

const endsWithinMs = 20_000;

/** Starts a program as the user of PostgreSQL; its output goes to `log`. */
export function start(
  file: string,
  args: string[],
  log: string,
  closing: Closing,
  more: Record<string, string> = {},
): Daemon {
  const fd = openSync(log, 'a');
  const child = spawn(file, args, {
    ...user,
    env: { ...unprivilegedEnv, ...more },
    cwd: '/',
    detached: true, // Ctrl-C must not end it before the service
    stdio: ['ignore', fd, fd],
  });
  closeSync(fd);
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  /** Also what it started, unless that has a session of its own, as PostgreSQL has. */
  const kill = (signal: NodeJS.Signals) => void (hasEnded() || process.kill(-child.pid!, signal));
  const end = async (signal: NodeJS.Signals) => {
    if (hasEnded()) return;
    const exited = once(child, 'exit');
    kill(signal);
    const late = await Promise.race([exited, sleep(endsWithinMs, 'late')]);
    if (late === 'late') kill('SIGKILL');
  };
  const atExit = () => kill('SIGKILL');
  process.once('exit', atExit);
  child.once('exit', () => process.off('exit', atExit));
  closing.push(() => end('SIGTERM'));
  return { child, end };
}

/** Starts it, and resolves with what it printed and its seconds when it has ended well. */
export async function finish(
  ...args: Parameters<typeof start>
): Promise<{ printed: string; seconds: number }> {
  const from = performance.now();
  const [file, words, log] = args;
  const [code] = (await once(start(...args).child, 'exit')) as [number | null];
  const printed = readFileSync(log, 'utf8');
  if (code !== 0) throw new Error(`${file} ${words.join(' ')} ended with ${code}: ${printed.slice(-2_000)}`);
  return { printed, seconds: (performance.now() - from) / 1_000 };
}
