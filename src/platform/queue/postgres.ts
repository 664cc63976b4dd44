import {
  assertSchemaCompatibility,
  createPostgresBackend,
  runMigrations,
  withBackend,
  type Queue,
  type Worker,
} from 'bullmq';
import type pg from 'pg';
import { keepAlive, openPool, withConnection } from '../database/connection.js';
import { closeDeadConnections } from '../database/postgres.js';
import { reopened, workerOptions, type Backend, type Opened } from './backend.js';

const insufficientPrivilege = '42501';
export const queueSchema = 'bullmq';

export const migrateQueue = (client: pg.Client): Promise<number> => runMigrations(client, queueSchema);

const queryTimeoutMs = 10_000;
/** Workers are notified of jobs. If none has come for this long, not even a canary, they poll. */
const pollSeconds = 15;

export function postgresBackend(
  databaseUrl: string,
  opened: Opened,
  onError: (error: Error) => void,
): Backend {
  const { Queue: PgQueue, Worker: PgWorker } = withBackend(createPostgresBackend);
  const config = {
    application_name: 'parcelhook-queue',
    connectionTimeoutMillis: 900,
    query_timeout: queryTimeoutMs,
    settings: {
      search_path: queueSchema,
      synchronous_commit: 'off', // the queue can be rebuilt, so its commits need not wait for the disk
      statement_timeout: queryTimeoutMs,
      lock_timeout: queryTimeoutMs,
      idle_in_transaction_session_timeout: queryTimeoutMs,
    },
  };
  const limits = {
    max: 20,
    idleTimeoutMillis: 600_000, // node-postgres' default of 10 s would open one for nearly every canary
    maxLifetimeSeconds: 3_600, // a connection's memory in PostgreSQL grows
  };
  const pool = openPool(databaseUrl, { ...config, ...limits, ...keepAlive }, onError);
  pool.setMaxListeners(0); // every queue and worker listens
  closeDeadConnections(pool);
  opened.push({ close: () => pool.end() });
  return {
    prepare: () =>
      withConnection(databaseUrl, config, async (client) => {
        // A role that owns no tables relies on another role to migrate them.
        await migrateQueue(client).catch((refusal: { code?: string }) => {
          if (refusal.code !== insufficientPrivilege) throw refusal;
          return assertSchemaCompatibility(client, queueSchema).catch(() => {
            throw refusal;
          });
        });
      }),
    queue: (name) =>
      reopened(() => {
        const queue = new PgQueue(name, { connection: pool as never }) as unknown as Queue;
        queue.on('error', onError);
        opened.push(queue);
        return queue;
      }),
    worker: (name, concurrency, handle) => () =>
      new PgWorker(name, handle, {
        ...workerOptions,
        drainDelay: pollSeconds,
        connection: pool as never,
        concurrency,
      }) as unknown as Worker,
    memory: () => Promise.resolve(null),
    check: async () => void (await pool.query('select 1')),
  };
}
