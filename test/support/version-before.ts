/**
 * The version before this one, built from the history: that of the newest tag or, as long as there is none, the oldest
 * commit whose schema this program works on, which is the last one that edited a migration.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const migrations = 'src/migrations';

export interface VersionBefore {
  commit: string;
  /** The tag, or why this commit. */
  name: string;
  /** Whether it is a release, whose migrations may not be changed any more. */
  isReleased: boolean;
}

const git = (...args: string[]): string | null => {
  // A checkout may belong to another user than the one who runs the tests.
  const { status, stdout } = spawnSync('git', ['-c', 'safe.directory=*', ...args], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 ** 2,
  });
  return status === 0 ? stdout.trim() : null;
};

/** A reason instead, where the history does not tell. */
export function versionBefore(): VersionBefore | string {
  if (git('rev-parse', '--show-prefix') !== '') return 'this is no checkout with a history (git)';
  const [tag] =
    git('tag', '--merged', 'HEAD', '--no-contains', 'HEAD', '--sort=-v:refname')?.split('\n') ?? [];
  if (tag) return { commit: git('rev-list', '-n', '1', tag)!, name: tag, isReleased: true };
  if (git('rev-parse', '--is-shallow-repository') === 'true')
    return 'the history of this checkout is cut off (shallow)';
  const edited = git('log', '-1', '--diff-filter=MDR', '--format=%H', '--', migrations);
  const added = git('log', '-1', '--diff-filter=A', '--format=%H', '--', migrations);
  const commit = edited || added;
  if (!commit) return 'no commit has a migration';
  return { commit, name: `${commit.slice(0, 7)}, the first on today's schema`, isReleased: false };
}

export interface Migration {
  name: string;
  text: string;
}

export const migrationsNow = (): Migration[] =>
  readdirSync(join(root, migrations))
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => ({ name, text: readFileSync(join(root, migrations, name), 'utf8') }));

const migrationsOf = ({ commit }: VersionBefore): Migration[] =>
  git('ls-tree', '--name-only', `${commit}:${migrations}`)!
    .split('\n')
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => ({ name, text: `${git('show', `${commit}:${migrations}/${name}`)!}\n` }));

/** Those of the version before that this checkout has in another form, or not at all. */
export const editedSince = (before: VersionBefore): string[] => {
  const now = new Map(migrationsNow().map(({ name, text }) => [name, text.trim()]));
  return migrationsOf(before)
    .filter(({ name, text }) => now.get(name) !== text.trim())
    .map(({ name }) => name);
};

type Lockfile = { packages: Record<string, { version?: string; dev?: boolean; optional?: boolean }> };

/** Whether the packages here have all that a build of the other lockfile runs with, in the same versions. */
function hasAllOf(other: Lockfile): boolean {
  const own = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as Lockfile;
  return Object.entries(other.packages).every(
    ([path, { version, dev }]) => path === '' || dev || own.packages[path]?.version === version,
  );
}

/** Returns what to run. With other packages than here it takes minutes, and npm's registry. */
export function buildVersionBefore({ commit }: VersionBefore, folder: string): string {
  mkdirSync(folder, { recursive: true });
  const parts = [
    'docs',
    'src',
    'package.json',
    'package-lock.json',
    'tsconfig.json',
    'build.config.js',
    'LICENSE',
  ];
  const archive = execFileSync('git', ['-c', 'safe.directory=*', 'archive', commit, ...parts], {
    cwd: root,
    maxBuffer: 256 * 1024 ** 2,
  });
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
  const lockfile = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')) as Lockfile;
  if (hasAllOf(lockfile)) symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  else execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder });
  execFileSync(process.execPath, ['build.config.js', '--no-check'], { cwd: folder });
  return join(folder, 'dist/main.js');
}
