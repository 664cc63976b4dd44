import { randomBytes } from 'node:crypto';
import { appendFileSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { createDatabase, dropDatabase } from './database.js';
import { copyOfProgram, type Ended } from './program.js';

/** Exit 78 and one line, without a stack. */
export const isRefused = ({ exit, stderr }: Ended, says: RegExp): boolean =>
  exit === 78 && says.test(stderr) && stderr.split('\n').filter(Boolean).length === 1;

export const lostKey = /Neither SECRETS_KEY nor SECRETS_KEY_PREVIOUS/;
export const otherMigration = /its migration 0001-first-release differs from this program's/;
export const waitingForSchema = 'waiting for the schema: run the api, or parcelhook migrate';

const migrationsIn = (folder: string) => {
  const path = join(folder, 'src/migrations');
  return readdirSync(path).map((file) => join(path, file));
};

export function programWithOtherText(folder: string): string {
  const program = copyOfProgram(folder);
  appendFileSync(migrationsIn(folder)[0]!, '-- An afterthought.\n');
  return program;
}

export function programWithOtherLineEndings(folder: string): string {
  const program = copyOfProgram(folder);
  for (const file of migrationsIn(folder))
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll('\n', '\r\n'));
  return program;
}

export interface OwnedDatabase {
  owner: string;
  service: string;
  letIn(isRight: boolean): Promise<void>;
  drop(): Promise<void>;
}

/** `server` is a superuser's connection string. */
export async function emptyDatabaseOfOwner(server: string): Promise<OwnedDatabase> {
  const name = `t_${randomBytes(6).toString('hex')}`;
  const roles = [`${name}_owner`, `${name}_service`] as const;
  const ask = async (text: string) => {
    const client = new pg.Client({ connectionString: server });
    await client.connect();
    try {
      await client.query(text);
    } finally {
      await client.end();
    }
  };
  for (const role of roles) await ask(`create role ${role} login password '${role}'`);
  const database = await createDatabase(server, name, null);
  await ask(`alter database ${name} owner to ${roles[0]}`);
  const as = (role: string) => {
    const url = new URL(database);
    [url.username, url.password] = [role, role];
    return url.href;
  };
  return {
    owner: as(roles[0]),
    service: as(roles[1]),
    letIn: (isRight) => ask(`alter role ${roles[1]} password '${isRight ? roles[1] : 'another'}'`),
    drop: async () => {
      await dropDatabase(server, name);
      await ask(`drop role ${roles.join()}`);
    },
  };
}
