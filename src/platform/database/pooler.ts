/**
 * PostgreSQL behind a pooler in transaction mode, such as PgBouncer: each transaction may run on another connection of
 * the pooler's, so nothing may belong to a session. Settings are made in each transaction, and no statement is prepared
 * under a name: PgBouncer before 1.21 would look for it on the wrong connection.
 */
import type { Socket } from 'node:net';
import type pg from 'pg';
import { sessionSettings, type Settings } from './connection.js';

/** The error for a pooler that does not pass on the settings of a new connection. */
export const takesNoSettings =
  'PostgreSQL is behind a pooler that does not pass on the settings of a connection: set DATABASE_POOLER=transaction';

export const refusesSettings = (error: Error & { code?: string }): boolean =>
  error.code === '08P01' && error.message.startsWith('unsupported startup parameter');

/** The settings end with the transaction. Its isolation is decided when it begins. */
export const beginWith = (settings: Settings): string =>
  [
    `begin isolation level ${sessionSettings.default_transaction_isolation}`,
    ...Object.entries({ ...sessionSettings, ...settings }).map(
      ([name, value]) => `set local ${name} = '${value}'`,
    ),
  ].join('; ');

export interface Runs {
  query(config: pg.QueryConfig): Promise<pg.QueryResult>;
}

export const socketOf = (client: pg.PoolClient): Socket =>
  (client as unknown as { connection: { stream: Socket } }).connection.stream;

/** All transactions go in one message: nothing waits for an answer in between. */
export const oneByOne = (client: pg.PoolClient, begin: string): Runs => ({
  query: async (config) => {
    const socket = socketOf(client);
    socket.cork();
    const sent = [client.query(begin), client.query(config), client.query('commit')] as const;
    socket.uncork();
    const results = await Promise.allSettled(sent);
    const failed = results.find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
    return (results[1] as PromiseFulfilledResult<pg.QueryResult>).value;
  },
});

/**
 * Runs each on any connection of the pool. A connection on which a statement failed is closed, as by the pool itself.
 */
export const anyOneByOne = (pool: pg.Pool, begin: string): Runs => ({
  query: async (config) => {
    const client = await pool.connect();
    try {
      const result = await oneByOne(client, begin).query(config);
      client.release();
      return result;
    } catch (error) {
      client.release(error as Error);
      throw error;
    }
  },
});
