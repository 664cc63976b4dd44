import { execFile, type ExecFileException } from 'node:child_process';
import { promisify } from 'node:util';
import { randomUUID } from 'node:crypto';
import { chown, lchown, mkdir, readFile, readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { codeOf, describeError } from '../errors.js';
import { closeFolder, useYourOwn, problem } from './folder.js';

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
 * An ordinary user runs the programs directly. Root runs them as `postgres` or `nobody`, who gets the data folder. If that
 * user cannot enter the folder or read the programs, it gets the capability to bypass file permissions. If root may not
 * become another user, the programs run in a user namespace.
 */
export async function chooseRunner(native: string, dataDir: string): Promise<Runner> {
  if (process.getuid?.() !== 0) return { native, prefix: [], ids: {} };
  const refused: string[] = [];
  for (const runner of await rootCandidates(native)) {
    try {
      await closeFolder(dataDir, runner.owner);
      await probeFolder(runner, dataDir);
      await probePrograms(runner);
      return runner;
    } catch (error) {
      refused.push(describeError(error).trim().split('\n').slice(-1).join(''));
    }
  }
  throw problem(
    `it does not run as root, and no other user worked (${refused.join('; ')})`,
    `start as an ordinary user, set DATA_DIR to a folder that the user "nobody" can reach, or ${useYourOwn}`,
  );
}

async function rootCandidates(native: string): Promise<Runner[]> {
  const users = await ordinaryUsers();
  const direct = users.map((user) => ({ native, prefix: [], ids: user, owner: user }));
  if (process.platform !== 'linux') return direct;
  const capable = users.map((user) => {
    const become = ['setpriv', `--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups'];
    // Without this bit, access(2), with which PostgreSQL finds its own programs, ignores the capability.
    const keep = [
      '--securebits=+no_setuid_fixup',
      '--inh-caps=+dac_override',
      '--ambient-caps=+dac_override',
    ];
    return { native, prefix: [...become, ...keep], ids: {}, owner: user };
  });
  const namespace = ['unshare', '--user', '--map-user=65534', '--map-group=65534'];
  return [...direct, ...capable, { native, prefix: namespace, ids: {}, owner: { uid: 0, gid: 0 } }];
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

/** The folder comes last, so an interrupted run is repeated. */
export async function changeOwner(runner: Runner, folder: string): Promise<void> {
  const { owner } = runner;
  if (!owner || (await stat(folder)).uid === owner.uid) return;
  for (const { parentPath, name } of await readdir(folder, { recursive: true, withFileTypes: true }))
    await lchown(path.join(parentPath, name), owner.uid, owner.gid);
  await chown(folder, owner.uid, owner.gid);
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
export function spawnOptions(runner: Runner) {
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

async function execute(command: string, args: string[], runner: Runner, timeoutMs: number): Promise<void> {
  const options = { ...spawnOptions(runner), timeout: timeoutMs, killSignal: 'SIGKILL' } as const;
  await promisify(execFile)(command, args, options).catch(
    (error: ExecFileException & { stdout: string; stderr: string }) => {
      const printed = (error.stderr || error.stdout).trim();
      const text = error.killed ? `${command} took longer than ${timeoutMs} ms` : error.message;
      throw Object.assign(new Error(printed || text), { code: codeOf(error) });
    },
  );
}
