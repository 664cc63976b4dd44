import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, statfsSync } from 'node:fs';
import { promisify } from 'node:util';
import type { Closing } from './engines.js';

/** The fault was not run, which is neither a success nor a violation. */
export class NotRunnable extends Error {}

export interface Disk {
  path: string;
  fill(): Promise<void>;
  free(): Promise<void>;
}

const triedTimes = 100;

/** A tmpfs at `path`, which needs root; always unmounted at the end. */
export function smallDisk(path: string, sizeMb: number, closing: Closing): Disk {
  mkdirSync(path);
  const words = ['-t', 'tmpfs', '-o', `size=${sizeMb}m,mode=0755`, 'parcelhook-chaos', path];
  const made = spawnSync('mount', words, { encoding: 'utf8' });
  if (made.status !== 0)
    throw new NotRunnable(`no tmpfs can be mounted here: ${made.stderr?.trim() || String(made.error)}`);
  const unmount = () => {
    if (spawnSync('umount', [path]).status !== 0) spawnSync('umount', ['--lazy', path]);
  };
  process.once('exit', unmount);
  closing.push(() => {
    process.off('exit', unmount);
    unmount();
  });
  const resize = (size: string) =>
    promisify(execFile)('mount', ['-o', `remount,size=${size}`, path]).then(
      () => true,
      () => false,
    );
  return {
    path,
    fill: async () => {
      for (let n = 0; n < triedTimes; n += 1) {
        const { bsize, blocks, bfree } = statfsSync(path);
        if (await resize(String((blocks - bfree) * bsize))) return; // refused if more is used by now
      }
      throw new Error(`${path} could not be filled`);
    },
    free: async () => {
      if (!(await resize(`${sizeMb}m`))) throw new Error(`${path} could not be freed`);
    },
  };
}
