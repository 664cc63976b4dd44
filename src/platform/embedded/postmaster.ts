import { readFileSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { exists, processStat } from './owner.js';
import { codeOf } from './problem.js';

/** A server process as it describes itself in its data folder. */
export interface Postmaster {
  pid: number;
  port: number;
  /** `starting`, `ready` or `stopping`; empty before it gets that far. */
  status: string;
}

const lockFileIn = (cluster: string) => path.join(cluster, 'postmaster.pid');

/** The server that runs on this data folder, or undefined: what a dead one left behind does not count. */
export function findPostmaster(cluster: string): Postmaster | undefined {
  const found = readLockFile(cluster);
  return found && isPostmaster(found.pid, cluster) ? found : undefined;
}

/**
 * PostgreSQL itself sees through a lock file whose process is gone, but not when the number belongs to another
 * process by now or to a zombie that nobody reaps (both usual in containers). Then the file is removed.
 */
export function clearStaleLock(cluster: string): void {
  const found = readLockFile(cluster);
  if (found && exists(found.pid) && !isPostmaster(found.pid, cluster))
    rmSync(lockFileIn(cluster), { force: true });
}

function readLockFile(cluster: string): Postmaster | undefined {
  try {
    const lines = readFileSync(lockFileIn(cluster), 'utf8').split('\n');
    const pid = Math.abs(Number(lines[0]));
    if (!Number.isInteger(pid) || pid === 0) return undefined;
    return { pid, port: Number(lines[3] ?? 0), status: (lines[7] ?? '').trim() };
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(codeOf(error))) return undefined;
    throw error;
  }
}

/** True while that process lives and is the server of this data folder. */
export function isPostmaster(pid: number, cluster: string): boolean {
  if (!exists(pid)) return false;
  if (process.platform !== 'linux') return true;
  const stat = processStat(pid);
  if (!stat || stat.name !== 'postgres' || stat.state === 'Z' || stat.state === 'X') return false;
  try {
    const [itsFolder, ours] = [statSync(`/proc/${pid}/cwd`), statSync(cluster)];
    return itsFolder.ino === ours.ino && itsFolder.dev === ours.dev;
  } catch (error) {
    return ['EACCES', 'EPERM'].includes(codeOf(error)); // another user's: by its name it is one
  }
}
