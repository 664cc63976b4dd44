import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Files read at run time are found from the package's folder, from `src` and `dist` alike. */
export const packageFolder = folderWith('package.json', import.meta.dirname);

function folderWith(file: string, folder: string): string {
  if (existsSync(path.join(folder, file))) return folder;
  const parent = path.dirname(folder);
  if (parent === folder) throw new Error(`no ${file} in or above ${import.meta.dirname}`);
  return folderWith(file, parent);
}

const { version } = JSON.parse(readFileSync(path.join(packageFolder, 'package.json'), 'utf8')) as {
  version: string;
};

/** The commit that the build was made of; `unknown` where the build did not know it, or there is none. */
export const commit = readCommit();

function readCommit(): string {
  const stamp = path.join(packageFolder, 'dist', 'build.json');
  if (!import.meta.dirname.startsWith(path.dirname(stamp)) || !existsSync(stamp)) return 'unknown';
  return (JSON.parse(readFileSync(stamp, 'utf8')) as { commit?: string }).commit ?? 'unknown';
}

export { version };
