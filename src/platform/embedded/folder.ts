import { randomBytes, randomUUID } from 'node:crypto';
import { accessSync, constants, existsSync } from 'node:fs';
import { chmod, chown, mkdir, readFile, realpath, rename, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';

export const useYourOwn = 'set DATABASE_URL to use your own PostgreSQL ≥ 15';

const messagePrefix = 'Embedded PostgreSQL: ';

export function problem(what: string, remedy: string, cause?: unknown): Error {
  return new Error(`${messagePrefix}${what}. What to do: ${remedy}.`, { cause });
}

/** Unexpected errors are nearly always about permissions or space. */
export function asProblem(error: unknown, dataDir: string): Error {
  if (error instanceof Error && error.message.startsWith(messagePrefix)) return error;
  const remedy = `make sure that there is space and that this user can read and write everything in ${dataDir}`;
  return problem(messageOf(error), `${remedy}, or ${useYourOwn}`, error);
}

/** The code of an error of Node or PostgreSQL (`ENOENT`, `28P01`), or an empty string. */
export function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : '';
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
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
    throw problem(`${what} (${messageOf(error)})`, remedy, error);
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
      `${folder.passwordFile} cannot be read (${messageOf(error)})`,
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
