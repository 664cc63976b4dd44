import { createHmac } from 'node:crypto';
import pg from 'pg';
import { USER } from './cluster.js';
import { codeOf } from './problem.js';
import { makeServiceRole, serviceRole } from './service-role.js';

const DATABASE = 'parcelhook';
const ANSWER_TIMEOUT_MS = 10_000;

/** The database as the service uses it, under a role of its own. */
export const connectionStringFor = (port: number, password: string): string =>
  urlOf(port, serviceRole, servicePasswordOf(password));

/** As the superuser, whose password is given. */
export const superuserConnectionString = (port: number, password: string, database = DATABASE): string =>
  urlOf(port, USER, password, database);

/** Made of the superuser's, which it does not tell. */
const servicePasswordOf = (password: string): string =>
  createHmac('sha256', password).update(serviceRole).digest('base64url');

const urlOf = (port: number, user: string, password: string, database = DATABASE): string =>
  `postgresql://${user}:${password}@127.0.0.1:${port}/${database}`;

/** Resolves when the server answers the service in our database; role and database are made if missing. */
export async function ensureDatabase(port: number, password: string): Promise<void> {
  try {
    await query(connectionStringFor(port, password), 'SELECT 1');
  } catch (error) {
    // 3D000: no such database; 28P01: no such role, or the password is another
    if (!['3D000', '28P01'].includes(codeOf(error))) throw error;
    await makeDatabase(port, password);
    await query(
      superuserConnectionString(port, password),
      makeServiceRole(DATABASE, servicePasswordOf(password)),
    );
  }
}

const makeDatabase = (port: number, password: string): Promise<void> =>
  query(superuserConnectionString(port, password, 'postgres'), `CREATE DATABASE ${DATABASE}`).catch(
    (failure: unknown) => {
      // 42P04, 23505: it is there, or another process was first
      if (!['42P04', '23505'].includes(codeOf(failure))) throw failure;
    },
  );

async function query(connectionString: string, sql: string): Promise<void> {
  const client = new pg.Client({
    connectionString,
    connectionTimeoutMillis: ANSWER_TIMEOUT_MS,
    query_timeout: ANSWER_TIMEOUT_MS,
  });
  client.on('error', () => undefined); // a lost connection also rejects the query
  try {
    await client.connect();
    await client.query(sql);
  } finally {
    await client.end().catch(() => undefined);
  }
}
