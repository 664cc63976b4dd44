/** The tests of the Python package use the Python that TEST_PYTHON names, else python3. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { createDatabase, dropDatabase } from '../support/database.js';

export const source = resolve('src/client/python');
export const python = process.env.TEST_PYTHON ?? 'python3';
const runs = (...args: string[]) => spawnSync(python, args, { stdio: 'ignore' }).status === 0;
const isNew = runs('-c', 'import sys; sys.exit(sys.version_info < (3, 9))');
export const has = {
  python: isNew,
  psycopg: isNew && runs('-c', 'import psycopg'),
  httpx: isNew && runs('-c', 'import httpx'),
  mypy: isNew && runs('-c', 'import mypy'),
  hatchling: isNew && runs('-c', 'import hatchling, pip'),
};
if (!isNew) console.warn('\n  NO python3 (3.9 OR NEWER) ON PATH: the Python package is NOT TESTED.\n');
else if (!has.psycopg) console.warn(`\n  ${python} HAS NO psycopg: PostgresStore is NOT TESTED.\n`);
if (isNew && !has.httpx) console.warn(`\n  ${python} HAS NO httpx: AsyncClient is NOT TESTED.\n`);
if (isNew && !has.mypy) console.warn(`\n  ${python} HAS NO mypy: the types in Python are NOT TESTED.\n`);
if (isNew && !has.hatchling) console.warn(`\n  ${python} HAS NO hatchling: the wheel is NOT TESTED.\n`);

/** Leaves nothing in the source's folder. */
export const environment = { PATH: process.env.PATH ?? '', PYTHONDONTWRITEBYTECODE: '1', PYTHONPATH: source };

const databaseUrl = process.env.TEST_DATABASE_URL ?? '';
const databases: string[] = [];

/** The address of an empty one. */
export function newDatabase(): Promise<string> {
  databases.push(`t_${randomBytes(6).toString('hex')}`);
  return createDatabase(databaseUrl, databases.at(-1)!, null);
}

export async function dropDatabases(): Promise<void> {
  for (const name of databases.splice(0)) await dropDatabase(databaseUrl, name);
}

const children = new Set<ChildProcess>();
process.on('exit', () => children.forEach((child) => child.kill('SIGKILL')));

export interface PythonProgram {
  /** The next line of its output, which is JSON. Rejects with its errors if it ends. */
  next(): Promise<Record<string, any>>;
  write(line: string): void;
  kill(): void;
}

export function startPython(args: string[], env: Record<string, string>): PythonProgram {
  const child = spawn(python, args, { env: { ...environment, ...env }, stdio: 'pipe' });
  children.add(child);
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const lines = createInterface(child.stdout);
  return {
    async next() {
      const end = once(lines, 'close').then(() => {
        throw new Error(`the program ended:\n${errors}`);
      });
      const [line] = (await Promise.race([once(lines, 'line'), end])) as [string];
      return JSON.parse(line) as Record<string, any>;
    },
    write: (line) => void child.stdin.write(`${line}\n`),
    kill() {
      children.delete(child);
      child.kill('SIGKILL');
    },
  };
}
