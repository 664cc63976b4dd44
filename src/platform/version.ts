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

/** `commit`: the one that `dist` was built from; null if that is not known. */
export const buildInfo: { version: string; commit: string | null } = { version, commit: builtFrom() };

function builtFrom(): string | null {
  try {
    const stamp = readFileSync(path.join(packageFolder, 'dist', 'build.json'), 'utf8');
    return (JSON.parse(stamp) as { commit?: string | null }).commit ?? null;
  } catch {
    return null; // run from its sources, without a build
  }
}

export { version };
