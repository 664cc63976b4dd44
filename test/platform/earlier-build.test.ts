import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { generatedSecrets } from '../../src/config/secrets.js';
import { prepareFolder } from '../../src/platform/embedded/folder.js';
import { startEmbeddedPostgres } from '../../src/platform/embedded/index.js';
import { createLogger } from '../../src/platform/telemetry/logger.js';
import { createDatabase, dropDatabase } from '../support/database.js';
import { deployment, newFolder, type Folder } from '../support/deployment.js';
import { runProgram } from '../support/program.js';

const databaseUrl = process.env.TEST_DATABASE_URL ?? '';
const clearLine =
  /^The database was made by another build: its migration 0001-\S+ differs from this program's\. Nothing was changed\. Start the build that made it, or use an empty database \(DATABASE_URL, or another DATA_DIR\)$/;

/** Its migrations and tables, some with the names of today's. */
const leftBy = (firstMigration: string, secondMigration: string) => `
  create table migrations (id serial primary key, name varchar(255) not null, run_on timestamp not null);
  insert into migrations (name, run_on) values
    ('${firstMigration}', '2026-01-01'), ('${secondMigration}', '2026-01-02');
  create table deliveries (delivery_id uuid primary key, status text not null, sweep_at timestamptz);
  insert into deliveries values ('0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b', 'PENDING', '2026-01-02');
  create table shippers (shipper_id uuid primary key, name text not null);
  insert into shippers values ('0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b', 'a shipper');`;

const firstBuild = leftBy('0001-first-schema', '0002-replay-and-retention');

const ask = async (url: string, text: string) => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows as unknown[];
  } finally {
    await client.end();
  }
};

/** Every relation, column and function outside PostgreSQL's own schemas, and every row. */
const everything = async (url: string) => ({
  relations: await ask(
    url,
    `select n.nspname, c.relname, c.relkind, a.attname, a.atttypid::regtype::text
       from pg_class c join pg_namespace n on n.oid = c.relnamespace
       left join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
      where n.nspname !~ '^pg_' and n.nspname <> 'information_schema' order by 1, 2, 4`,
  ),
  functions: await ask(
    url,
    `select proname from pg_proc where pronamespace = 'public'::regnamespace order by 1`,
  ),
  rows: await ask(
    url,
    `select (select json_agg(m order by id) from migrations m) as migrations,
            (select json_agg(d) from deliveries d) as deliveries, (select json_agg(s) from shippers s) as shippers`,
  ),
});

const lines = (text: string) => text.split('\n').filter(Boolean);

describe.each([
  ['other migrations', firstBuild],
  ['a migration of the same name, and no hash of it', leftBy('0001-first-release', '0002-shipper-status')],
])('a database of a pre-release build, with %s', (_, earlierBuild) => {
  const name = `t_${randomBytes(6).toString('hex')}`;
  let url: string;

  beforeAll(async () => {
    url = await createDatabase(databaseUrl, name, null);
    await ask(url, earlierBuild);
  });
  afterAll(() => dropDatabase(databaseUrl, name));

  test.each(['all', 'api', 'worker'])(
    'is refused by role %s in one line, at once, and not changed',
    async (role) => {
      const before = await everything(url);
      const { exit, stderr } = await runProgram([role], deployment(url));
      expect(lines(stderr)).toEqual([expect.stringMatching(clearLine)]);
      expect(exit).toBe(78);
      expect(await everything(url)).toEqual(before);
    },
  );
});

describe('an embedded database of an earlier build', () => {
  let folder: Folder | undefined;
  afterEach(() => folder?.remove());

  test('is refused too, and stopped', async () => {
    folder = newFolder();
    const dataDir = join(folder.path, 'earlier');
    const logger = createLogger('silent');
    generatedSecrets(await prepareFolder(dataDir), {});
    const whileRunning = async <T>(use: (url: string) => Promise<T>): Promise<T> => {
      const server = await startEmbeddedPostgres({ dataDir, logger });
      return use(server.connectionString).finally(() => server.stop());
    };
    const before = await whileRunning(async (own) => {
      await ask(own, firstBuild);
      return everything(own);
    });
    const { exit, stderr } = await runProgram([], { DATA_DIR: dataDir, PORT: '0' });
    expect(lines(stderr)).toEqual([expect.stringMatching(clearLine)]);
    expect(exit).toBe(78);
    expect(existsSync(join(dataDir, 'postgres', 'postmaster.pid'))).toBe(false);
    expect(await whileRunning(everything)).toEqual(before);
  });
});
