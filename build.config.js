/**
 * Builds `dist`, unless it is already what `src` gives. What counts is content, not time: files that a checkout made
 * newer or older are no change, one that was deleted is. With `--no-check` types are left to the build proper, to
 * lint and to the tests: `npm start` is to be quick.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

process.chdir(import.meta.dirname);

const dist = 'dist';
const stamp = 'build.json';
const settings = [
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'build.config.js',
];
/** Beside `dist`, so that the source maps lead to `src` from there too; two builds at once have one each. */
const staging = `dist.${process.pid}`;

const check = !process.argv.includes('--no-check');
const inputs = digest([...settings, ...filesIn('src')]);
if (!isBuilt()) build();

function build() {
  rmSync(staging, { recursive: true, force: true });
  try {
    compile();
    cpSync('src/migrations', `${staging}/migrations`, { recursive: true });
    const outputs = digest(filesIn(staging), staging);
    writeFileSync(`${staging}/${stamp}`, JSON.stringify({ inputs, outputs, checked: check }));
    publish();
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

function isBuilt() {
  if (!existsSync(`${dist}/${stamp}`)) return false;
  const built = JSON.parse(readFileSync(`${dist}/${stamp}`, 'utf8'));
  const outputs = filesIn(dist).filter((file) => path.relative(dist, file) !== stamp);
  return built.inputs === inputs && built.outputs === digest(outputs, dist) && (built.checked || !check);
}

function compile() {
  const options = ['-p', 'tsconfig.build.json', '--outDir', staging, ...(check ? [] : ['--noCheck'])];
  const { status, error } = spawnSync(process.execPath, [compiler(), ...options], { stdio: 'inherit' });
  if (error) throw error;
  if (status === 0) return;
  rmSync(staging, { recursive: true, force: true });
  process.exit(status ?? 1);
}

/** TypeScript 7 is native, thus optional; 6, which the linter needs besides, gives the same more slowly. */
function compiler() {
  const { resolve } = createRequire(import.meta.url);
  try {
    resolve(`@typescript/typescript-${process.platform}-${process.arch}/package.json`);
    return 'node_modules/typescript7/bin/tsc';
  } catch {
    return 'node_modules/typescript/bin/tsc';
  }
}

/** The whole at once: nothing is left of sources that are gone, and nobody starts from half a build. */
function publish() {
  const previous = `${staging}.previous`;
  try {
    if (existsSync(dist)) renameSync(dist, previous);
    renameSync(staging, dist);
  } catch (error) {
    if (!isBuilt()) throw error; // else another build was first
  } finally {
    rmSync(previous, { recursive: true, force: true });
  }
}

function filesIn(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .sort();
}

function digest(files, base = '.') {
  const hash = createHash('sha256');
  for (const file of files) {
    const content = readFileSync(file);
    hash.update(`${path.relative(base, file)}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex');
}
