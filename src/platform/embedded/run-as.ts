import { execFile, type SpawnOptions } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import {
  chmod,
  chown,
  cp,
  lchown,
  lstat,
  mkdir,
  readFile,
  readdir,
  rename,
  rm,
  stat,
} from 'node:fs/promises';
import path from 'node:path';
import { closeFolder, useYourOwn, codeOf, messageOf, problem } from './folder.js';

/** PostgreSQL's programs refuse to run as root. */
export interface Runner {
  native: string;
  prefix: string[];
  /** The user and group that Node sets for the child, where no prefix does so. */
  ids: { uid?: number; gid?: number };
  owner?: { uid: number; gid: number };
}

const probeTimeoutMs = 10_000;
const initdbTimeoutMs = 120_000;

/**
 * An ordinary user runs the programs directly. Root runs them as `postgres` or `nobody`, who gets the data folder and, if
 * node_modules is not readable to it, a copy of the programs. If that user cannot enter the folder, it gets the
 * capability to bypass file permissions. If root may not become another user, the programs run in a user namespace.
 */
export async function chooseRunner(native: string, dataDir: string): Promise<Runner> {
  if (process.getuid?.() !== 0) return { native, prefix: [], ids: {} };
  const refused: string[] = [];
  for (const candidate of await rootCandidates(native, dataDir)) {
    try {
      const runner = await candidate();
      await probeFolder(runner, dataDir);
      await probePrograms(runner);
      return runner;
    } catch (error) {
      refused.push(messageOf(error).trim().split('\n').slice(-1).join(''));
    }
  }
  throw problem(
    `it does not run as root, and no other user worked (${refused.join('; ')})`,
    `start as an ordinary user, set DATA_DIR to a folder that the user "nobody" can reach, or ${useYourOwn}`,
  );
}

async function rootCandidates(native: string, dataDir: string): Promise<(() => Promise<Runner>)[]> {
  const users = await ordinaryUsers();
  const namespace = ['unshare', '--user', '--map-user=65534', '--map-group=65534'];
  const linux = process.platform === 'linux';
  const inNamespace = async () => {
    const owner = { uid: 0, gid: 0 };
    await closeFolder(dataDir, owner);
    return { native, prefix: namespace, ids: {}, owner };
  };
  return [
    ...users.map((user) => async () => {
      await closeFolder(dataDir, user);
      const direct = { native, prefix: [], ids: user, owner: user };
      await probeFolder(direct, dataDir);
      const isReachable = await probePrograms(direct).then(
        () => true,
        () => false,
      );
      return isReachable ? direct : { ...direct, native: await copyBinaries(native, dataDir) };
    }),
    ...(linux ? users : []).map((user) => async () => {
      await closeFolder(dataDir, user);
      const prefix = ['setpriv', `--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups'];
      // Without this bit, access(2), with which PostgreSQL finds its own programs, ignores the capability.
      const keep = [
        '--securebits=+no_setuid_fixup',
        '--inh-caps=+dac_override',
        '--ambient-caps=+dac_override',
      ];
      return { native, prefix: [...prefix, ...keep], ids: {}, owner: user };
    }),
    ...(linux ? [inNamespace] : []),
  ];
}

async function ordinaryUsers(): Promise<{ uid: number; gid: number }[]> {
  const lines = (await readFile('/etc/passwd', 'utf8').catch(() => ''))
    .split('\n')
    .map((line) => line.split(':'));
  const found = ['postgres', '_postgres', 'nobody'].flatMap((name) =>
    lines.filter((line) => line[0] === name),
  );
  return found.map((line) => ({ uid: Number(line[2]), gid: Number(line[3]) })).filter(({ uid }) => uid !== 0);
}

/** Checks what `--version` would not: that initdb finds everything. Creates nothing. */
async function probePrograms(runner: Runner): Promise<void> {
  await run(runner, 'initdb', ['--show', '-D', runner.native], probeTimeoutMs);
}

/** Tries to write to the folder, through all folders above it. */
async function probeFolder(runner: Runner, dataDir: string): Promise<void> {
  const folder = path.join(dataDir, `postgres.probe-${randomUUID()}`);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await changeOwner(runner, folder);
    const write = ['-c', ': > "$1"', 'sh', path.join(folder, 'file')];
    const { command, args } = commandLine(runner, '/bin/sh', write);
    await execute(command, args, runner, probeTimeoutMs);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function copyBinaries(native: string, dataDir: string): Promise<string> {
  const about = await readFile(path.join(path.dirname(native), 'package.json'), 'utf8');
  const { version } = JSON.parse(about) as { version: string };
  const copy = path.join(dataDir, `postgres-programs-${version}`);
  if (existsSync(copy)) return copy;
  const temporary = `${copy}.${randomUUID()}`;
  await cp(native, temporary, { recursive: true, verbatimSymlinks: true });
  await eachFile(temporary, (file, isLink) => (isLink ? Promise.resolve() : chmod(file, 0o755)));
  await rename(temporary, copy); // a folder with the final name is complete
  return copy;
}

/** The folder comes last, so an interrupted run is repeated. */
export async function changeOwner(runner: Runner, folder: string): Promise<void> {
  const { owner } = runner;
  if (!owner || (await stat(folder)).uid === owner.uid) return;
  await eachFile(folder, (file) => lchown(file, owner.uid, owner.gid), false);
  await chown(folder, owner.uid, owner.gid);
}

async function eachFile(
  folder: string,
  visit: (file: string, isLink: boolean) => Promise<void>,
  withSelf = true,
): Promise<void> {
  if (withSelf) await visit(folder, false);
  for (const name of await readdir(folder)) {
    const file = path.join(folder, name);
    const info = await lstat(file);
    if (info.isDirectory()) await eachFile(file, visit);
    else await visit(file, info.isSymbolicLink());
  }
}

export function programOf(runner: Runner, name: string): string {
  return path.join(runner.native, 'bin', process.platform === 'win32' ? `${name}.exe` : name);
}

export function commandLine(
  runner: Runner,
  program: string,
  args: string[],
): { command: string; args: string[] } {
  const [command, ...rest] = [...runner.prefix, program, ...args];
  return { command: command ?? program, args: rest };
}

/** A minimal environment, without our secrets and any PG… variable. */
export function spawnOptions(runner: Runner): SpawnOptions {
  const inherited = ['PATH', 'SystemRoot', 'TEMP', 'TMP'].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value]];
  });
  const env = { ...Object.fromEntries(inherited), LC_ALL: 'C', TZ: 'UTC' } as NodeJS.ProcessEnv;
  return { ...runner.ids, env, cwd: path.parse(runner.native).root, windowsHide: true };
}

/** Rejects with the program's output. */
export async function run(
  runner: Runner,
  name: string,
  programArgs: string[],
  timeoutMs = initdbTimeoutMs,
): Promise<void> {
  const { command, args } = commandLine(runner, programOf(runner, name), programArgs);
  await execute(command, args, runner, timeoutMs);
}

function execute(command: string, args: string[], runner: Runner, timeoutMs: number): Promise<void> {
  const { env, cwd, uid, gid } = spawnOptions(runner);
  const options = { env, cwd, ...(uid === undefined ? {} : { uid }), ...(gid === undefined ? {} : { gid }) };
  return new Promise((resolve, reject) => {
    execFile(
      command,
      args,
      { ...options, timeout: timeoutMs, killSignal: 'SIGKILL' },
      (error, stdout, stderr) => {
        if (!error) return resolve();
        const printed = (stderr || stdout).trim();
        const text =
          printed || (error.killed ? `${command} took longer than ${timeoutMs} ms` : error.message);
        reject(Object.assign(new Error(text), { code: codeOf(error) }));
      },
    );
  });
}
