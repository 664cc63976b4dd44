import { existsSync } from 'node:fs';
import { mkdir, open, readdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Folder } from './folder.js';
import { USE_YOUR_OWN, codeOf, messageOf, problem } from './problem.js';
import { giveTo, run, type Runner } from './run-as.js';

/** The server's superuser. */
export const USER = 'parcelhook';

/** Makes the data folder if there is none, and makes sure that it belongs to whom the server runs as. */
export async function ensureCluster(folder: Folder, runner: Runner, password: string): Promise<void> {
  await removeHalfMade(folder);
  if (!existsSync(folder.cluster)) await makeCluster(folder, runner, password);
  await giveTo(runner, folder.cluster);
}

/** initdb works in a folder of its own and the whole is renamed: killed at any point, it is simply redone. */
async function makeCluster(folder: Folder, runner: Runner, password: string): Promise<void> {
  const staging = `${folder.cluster}.new-${process.pid}`;
  const data = path.join(staging, 'data');
  const passwordFile = path.join(staging, 'password');
  try {
    await mkdir(staging, { mode: 0o700 });
    await writeFile(passwordFile, `${password}\n`, { mode: 0o600 });
    await giveTo(runner, staging);
    await run(runner, 'initdb', [
      ...['-D', data, '-U', USER, `--pwfile=${passwordFile}`, '--auth=scram-sha-256'],
      ...['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'],
      '--data-checksums',
    ]);
    await rename(data, folder.cluster);
    await syncFolder(folder.dataDir);
  } catch (error) {
    // Another process may have been first; its cluster is as good.
    if (['ENOTEMPTY', 'EEXIST'].includes(codeOf(error)) && existsSync(folder.cluster)) return;
    throw explain(error, folder);
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

function explain(error: unknown, folder: Folder): Error {
  if (codeOf(error) === 'ENOENT' && process.platform === 'linux') {
    return problem('its programs need glibc, which this system (musl?) does not have', USE_YOUR_OWN, error);
  }
  const remedy = `free space in or choose another DATA_DIR, or ${USE_YOUR_OWN}`;
  return problem(`no database could be made in ${folder.dataDir}: ${messageOf(error)}`, remedy, error);
}

/** Called by the owner only, so no other process is at work in what is found. */
async function removeHalfMade(folder: Folder): Promise<void> {
  const prefix = `${path.basename(folder.cluster)}.new-`;
  for (const name of await readdir(folder.dataDir)) {
    if (!name.startsWith(prefix)) continue;
    // An orphaned initdb may still be writing there.
    await rm(path.join(folder.dataDir, name), {
      recursive: true,
      force: true,
      maxRetries: 5,
      retryDelay: 200,
    });
  }
}

async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  await handle.sync().finally(() => handle.close());
}
