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
const env = { PATH: process.env.PATH, HOME: '/nonexistent', LC_ALL: 'C', TZ: 'UTC' };

export function give(path: string): string {
  if (user.uid !== undefined) chownSync(path, user.uid, user.gid!);
  return path;
}

export function makeFolder(path: string): string {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  return give(path);
}

export const run = (file: string, args: string[], cwd: string): void =>
  void execFileSync(file, args, { cwd, stdio: 'pipe', timeout: 60_000 });

export const runUnprivileged = (file: string, args: string[]): void =>
  void execFileSync(file, args, { ...user, env, cwd: '/', stdio: 'pipe', timeout: 60_000 });

export interface Daemon {
  child: ChildProcess;
  end(signal: NodeJS.Signals): Promise<void>;
}

const endsWithinMs = 20_000;

/** As the user of PostgreSQL; what it prints goes to `log`. */
export function start(file: string, args: string[], log: string, closing: Closing): Daemon {
  const fd = openSync(log, 'a');
  const child = spawn(file, args, {
    ...user,
    env,
    cwd: '/',
    detached: true, // Ctrl-C must not end it before the service
    stdio: ['ignore', fd, fd],
  });
  closeSync(fd);
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  const end = async (signal: NodeJS.Signals) => {
    if (hasEnded()) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    const late = await Promise.race([exited, sleep(endsWithinMs, 'late')]);
    if (late === 'late') child.kill('SIGKILL');
  };
  const atExit = () => void child.kill('SIGKILL');
  process.once('exit', atExit);
  closing.push(async () => {
    await end('SIGTERM');
    process.off('exit', atExit);
  });
  return { child, end };
}
