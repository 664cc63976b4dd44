import { randomBytes, randomUUID } from 'node:crypto';
import {
  accessSync,
  constants,
  existsSync,
  linkSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { chmod, chown, mkdir, readFile, realpath, rename, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { codeOf, ConfigError, describeError } from '../errors.js';

export const useYourOwn = 'set DATABASE_URL to use your own PostgreSQL ≥ 15';

const messagePrefix = 'Embedded PostgreSQL: ';

export function problem(what: string, remedy: string, cause?: unknown): Error {
  return new Error(`${messagePrefix}${what}. What to do: ${remedy}.`, { cause });
}

/** Unexpected errors are nearly always about permissions or space. */
export function asProblem(error: unknown, dataDir: string): Error {
  if (error instanceof Error && error.message.startsWith(messagePrefix)) return error;
  const remedy = `make sure that there is space and that this user can read and write everything in ${dataDir}`;
  return problem(describeError(error), `${remedy}, or ${useYourOwn}`, error);
}

export interface Folder {
  dataDir: string;
  /** PostgreSQL's data folder. It appears by a rename after initdb, so it is complete if it exists. */
  cluster: string;
  logFile: string;
  passwordFile: string;
  portFile: string;
  ownerFile: string;
}

/** Closes the folder to other users. Rejects if it cannot be used. */
export async function prepareFolder(dataDir: string): Promise<Folder> {
  const remedy = `set DATA_DIR to a folder that this user may write to, or ${useYourOwn}`;
  let real: string;
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    real = await realpath(dataDir);
    accessSync(real, constants.W_OK | constants.X_OK);
  } catch (error) {
    const isFile = ['EEXIST', 'ENOTDIR'].includes(codeOf(error));
    const what = isFile ? `${dataDir} is or lies under a file, not a folder` : `${dataDir} cannot be written`;
    throw problem(`${what} (${describeError(error)})`, remedy, error);
  }
  if (await isShared(real)) throw problem(`${dataDir} is not a folder for the service alone`, remedy);
  await closeFolder(real);
  return {
    dataDir: real,
    cluster: path.join(real, 'postgres'),
    logFile: path.join(real, 'postgres.log'),
    passwordFile: path.join(real, 'postgres.password'),
    portFile: path.join(real, 'postgres.port'),
    ownerFile: path.join(real, 'postgres.owner'),
  };
}

const isShared = async (folder: string): Promise<boolean> =>
  [homedir(), path.parse(folder).root].includes(folder) || ((await stat(folder)).mode & 0o1000) !== 0;

/** Closes the folder to all but its owner, after giving it to `owner` if set. Leaves another user's folder as it is. */
export async function closeFolder(folder: string, owner?: { uid: number; gid: number }): Promise<void> {
  if (process.platform === 'win32') return;
  if (owner) await chown(folder, owner.uid, owner.gid);
  await chmod(folder, 0o700).catch((error: unknown) => {
    if (codeOf(error) !== 'EPERM') throw error;
  });
}

/** The superuser's password: generated once, readable only by the file's owner. */
export async function readOrMakePassword(folder: Folder): Promise<string> {
  const saved = await readFile(folder.passwordFile, 'utf8').catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return '';
    throw problem(
      `${folder.passwordFile} cannot be read (${describeError(error)})`,
      `start as the user who owns it, or set DATA_DIR to another folder`,
      error,
    );
  });
  if (saved.trim()) return saved.trim();
  if (existsSync(folder.cluster)) {
    throw problem(
      `${folder.passwordFile} is missing, but ${folder.cluster} has data`,
      `restore that file, or move ${folder.cluster} away to start with an empty database`,
    );
  }
  const temporary = `${folder.passwordFile}.${randomUUID()}`;
  const password = randomBytes(24).toString('base64url');
  await writeFile(temporary, password, { mode: 0o600, flush: true });
  await rename(temporary, folder.passwordFile);
  return password;
}

/** A log over 10 MB is emptied at a start. */
export async function boundLog(logFile: string): Promise<void> {
  const size = await stat(logFile).then(
    (file) => file.size,
    () => 0,
  );
  if (size > 10 * 1024 * 1024) await writeFile(logFile, '');
}

interface Owner {
  pid: number;
  startedAt: string;
  id: string;
}

/**
 * Makes this process the one that starts, supervises and stops the server of a folder, until `release`. The file counts
 * only while the process it names lives. Throws ConfigError if another one does.
 */
export function takeFolder({ dataDir, ownerFile: file }: Folder): { release(): void } {
  const me: Owner = { pid: process.pid, startedAt: startOf(process.pid) ?? '', id: randomUUID() };
  for (;;) {
    const temporary = `${file}.${me.id}`;
    writeFileSync(temporary, JSON.stringify(me), { mode: 0o600 });
    putInPlace(temporary, file);
    const owner = readOwner(file);
    if (owner?.id === me.id) return { release: () => rmSync(file, { force: true }) };
    if (owner && isAlive(owner)) {
      const remedy = `stop it, set DATA_DIR to another folder, or ${useYourOwn}. If it is another program, remove ${file}`;
      throw new ConfigError(problem(`process ${owner.pid} uses ${dataDir}`, remedy).message);
    }
    if (owner) removeOwner(file, owner);
  }
}

/** A link never replaces a file, so of several claimants one wins. */
function putInPlace(temporary: string, file: string): void {
  try {
    linkSync(temporary, file);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** Moves the file aside before checking it: another claimant's new file goes back. */
function removeOwner(file: string, dead: Owner): void {
  const aside = `${file}.${randomUUID()}`;
  try {
    renameSync(file, aside);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return;
    throw error;
  }
  if (readOwner(aside)?.id === dead.id) rmSync(aside, { force: true });
  else putInPlace(aside, file);
}

/** Undefined if there is no file; a truncated one reads as a process that does not exist. */
function readOwner(file: string): Owner | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
  try {
    return JSON.parse(text) as Owner;
  } catch {
    return { pid: 0, startedAt: '', id: '' };
  }
}

function isAlive(owner: Owner): boolean {
  if (owner.pid <= 0) return false;
  const startedAt = startOf(owner.pid);
  return startedAt !== undefined && (startedAt === '' || startedAt === owner.startedAt);
}

/**
 * The start time of a process on Linux, where numbers are soon reused, above all in a restarted container; elsewhere an
 * empty string. Undefined if there is no such process.
 */
function startOf(pid: number): string | undefined {
  const found = processStat(pid);
  if (found) return found.state === 'Z' ? undefined : found.startedAt;
  return exists(pid) ? '' : undefined;
}

/** True also for another user's process, and for a dead one that is not reaped. */
function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

/** Reads /proc on Linux; undefined elsewhere, or if the process is gone. */
function processStat(pid: number): { name: string; state: string; startedAt: string } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const end = text.lastIndexOf(')'); // the name may contain spaces and brackets
    const fields = text.slice(end + 2).split(' ');
    return {
      name: text.slice(text.indexOf('(') + 1, end),
      state: fields[0] ?? '',
      startedAt: fields[19] ?? '',
    };
  } catch {
    return undefined;
  }
}

export interface Postmaster {
  pid: number;
  port: number;
  status: string;
}

const lockFileIn = (cluster: string) => path.join(cluster, 'postmaster.pid');

/** The server that runs on the folder; undefined if it has left no more than its lock file. */
export function findPostmaster(cluster: string): Postmaster | undefined {
  const found = readLockFile(cluster);
  return found && isPostmaster(found.pid, cluster) ? found : undefined;
}

/**
 * Removes a lock file that names a zombie or another process, which is common in containers: PostgreSQL would honour
 * it.
 */
export function clearStaleLock(cluster: string): void {
  const found = readLockFile(cluster);
  if (found && exists(found.pid) && !isPostmaster(found.pid, cluster))
    rmSync(lockFileIn(cluster), { force: true });
}

function readLockFile(cluster: string): Postmaster | undefined {
  try {
    const lines = readFileSync(lockFileIn(cluster), 'utf8').split('\n');
    const pid = Math.abs(Number(lines[0]));
    if (!Number.isInteger(pid) || pid === 0) return undefined;
    return { pid, port: Number(lines[3] ?? 0), status: (lines[7] ?? '').trim() };
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(codeOf(error))) return undefined;
    throw error;
  }
}

export function isPostmaster(pid: number, cluster: string): boolean {
  if (!exists(pid)) return false;
  if (process.platform !== 'linux') return true;
  const stat = processStat(pid);
  if (!stat || stat.name !== 'postgres' || stat.state === 'Z' || stat.state === 'X') return false;
  try {
    const [itsFolder, ours] = [statSync(`/proc/${pid}/cwd`), statSync(cluster)];
    return itsFolder.ino === ours.ino && itsFolder.dev === ours.dev;
  } catch (error) {
    return ['EACCES', 'EPERM'].includes(codeOf(error)); // another user's process: its name has to do
  }
}
