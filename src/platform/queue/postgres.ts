import {
  assertSchemaCompatibility,
  createPostgresBackend,
  runMigrations,
  withBackend,
  type Queue,
  type Worker,
} from 'bullmq';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { closeDeadConnections, keepAlive, serverKeepAlive } from '../database/postgres.js';
import { reopened, workerOptions, type Backend, type Opened } from './backend.js';

const insufficientPrivilege = '42501';
export const queueSchema = 'bullmq';

export const migrateQueue = (client: pg.Client): Promise<number> => runMigrations(client, queueSchema);

/** Workers are notified of jobs. If none has come for this long, not even a canary, they poll. */
const pollSeconds = 15;

export function postgresBackend(
  databaseUrl: string,
  opened: Opened,
  onError: (error: Error) => void,
): Backend {
  const { Queue: PgQueue, Worker: PgWorker } = withBackend(createPostgresBackend);
  const settings = { connectionString: databaseUrl, connectionTimeoutMillis: 900, query_timeout: 10_000 };
  const pool = new pg.Pool({
    ...settings,
    application_name: 'parcelhook-queue',
    max: 20,
    idleTimeoutMillis: 600_000, // node-postgres' default of 10 s would open one for nearly every canary
    maxLifetimeSeconds: 3_600, // a connection's memory in PostgreSQL grows
    ...keepAlive,
    // The queue can be rebuilt, so its commits need not wait for the disk.
    options: [`search_path=${queueSchema}`, 'synchronous_commit=off', ...serverKeepAlive]
      .map((set) => `-c ${set}`)
      .join(' '),
  });
  pool.setMaxListeners(0); // every queue and worker listens
  pool.on('error', onError);
  pool.on('connect', (client) => void client.on('error', () => undefined));
  closeDeadConnections(pool);
  opened.push({ close: () => pool.end() });
  return {
    prepare: async () => {
      const client = new pg.Client(settings);
      client.on('error', onError);
      await client.connect();
      try {
        // A role that owns no tables relies on another role to migrate them.
        await migrateQueue(client).catch((error: { code?: string }) => {
          if (error.code !== insufficientPrivilege) throw error;
          return assertSchemaCompatibility(client, queueSchema);
        });
      } finally {
        await client.end();
      }
    },
    queue: (name) =>
      reopened(() => {
        const queue = new PgQueue(name, { connection: pool as never }) as unknown as Queue;
        queue.on('error', onError);
        opened.push(queue);
        return queue;
      }),
    worker: (name, concurrency, handle, listen) =>
      runWhenOpen(() => {
        const worker = new PgWorker(name, handle, {
          ...workerOptions,
          drainDelay: pollSeconds,
          connection: pool as never,
          concurrency,
          autorun: false,
        }) as unknown as Worker;
        listen(worker);
        return worker;
      }),
    memory: () => Promise.resolve(null),
    check: async () => void (await pool.query('select 1')),
  };
}

/**
 * Runs a worker once it has opened, and opens another one if that fails: a BullMQ worker would remember the failure for
 * ever and spin on it, which blocks the whole process.
 */
function runWhenOpen(open: () => Worker): Pick<Worker, 'close'> {
  let closed = false;
  const opening = (async () => {
    while (!closed) {
      const worker = open();
      try {
        await worker.waitUntilReady();
        if (!closed) worker.run().catch((error: Error) => worker.emit('error', error));
        return worker;
      } catch (error) {
        worker.emit('error', error as Error);
        worker.close(true).catch(() => undefined);
        await sleep(workerOptions.runRetryDelay);
      }
    }
    return null;
  })();
  return {
    close: async () => {
      closed = true;
      await (await opening)?.close();
    },
  };
}
