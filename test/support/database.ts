import pg from 'pg';
import { noTransactionTimeout } from '../../src/platform/database/connection.js';

/** The database created by the real migrations; every service under test gets a copy. */
export const templateDatabase = 'parcelhook_template';

/** Creates one on the same server; returns its connection string. */
export async function createDatabase(
  connectionString: string,
  name: string,
  template: string | null,
): Promise<string> {
  // Copying files costs a third of copying pages through the write-ahead log.
  const copying = template ? ` template "${template}" strategy file_copy` : '';
  await administer(connectionString, `create database "${name}"${copying}`);
  const url = new URL(connectionString);
  url.pathname = `/${name}`;
  return url.toString();
}

export const dropDatabase = (connectionString: string, name: string): Promise<void> =>
  administer(connectionString, `drop database if exists "${name}" with (force)`);

async function administer(connectionString: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    await client.query(noTransactionTimeout('session')); // `usualOptions` cannot name it: older servers do not know it
    await client.query(statement);
  } finally {
    await client.end();
  }
}

type Sql = <Row = Record<string, any>>(text: string, values?: unknown[]) => Promise<Row[]>;

/** Finds each word in any column of any schema. */
export async function findInDatabase(sql: Sql, words: string[]): Promise<string[]> {
  const tables = await sql<{ name: string }>(
    `select format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.relkind in ('r', 'm') and n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast')`,
  );
  const hits: string[] = [];
  for (const { name } of tables) {
    const found = await sql<{ word: string }>(
      `select distinct word from ${name} t cross join unnest($1::text[]) as word
        where strpos(t::text, word) > 0`,
      [words],
    );
    hits.push(...found.map(({ word }) => `${name}: ${word}`));
  }
  if (tables.length < 15) throw new Error('not every table was searched');
  return hits;
}
