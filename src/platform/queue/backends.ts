import {
  type Job,
  Queue,
  Worker,
  assertSchemaCompatibility,
  createPostgresBackend,
  runMigrations,
  withBackend,
} from 'bullmq';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { keepAlive, openPool, withConnection } from '../database/connection.js';
import { closeDeadConnections } from '../database/postgres.js';
import { describeError } from '../errors.js';
import { connectRedis } from '../redis.js';

export type Opened = { close(): Promise<unknown> }[];

export interface QueueMemory {
  usedBytes: number;
  limitBytes: number | null;
}

export interface Backend {
  prepare(): Promise<void>;
  /** Opened on first use; the function throws while the backend is unavailable. */
  queue(name: string): () => Queue;
  /** Each call of the returned function opens another one, which does not run yet. */
  worker(name: string, concurrency: number, handle: (job: Job) => Promise<void>): () => Worker;
  check(): Promise<void>;
  memory(): Promise<QueueMemory | null>;
}

const workerOptions = {
  autorun: false,
  lockDuration: 10_000,
  stalledInterval: 15_000, // the sweeper finds sooner what a dead worker's jobs were for
  runRetryDelay: 500, // after a failed fetch; BullMQ's default of 15 s would prolong every outage
  maxStalledCount: 10,
  removeOnComplete: { count: 0 },
  removeOnFail: { count: 0 },
};

const reopenAfterMs = 500;
const maxReopenAfterMs = 5_000;

/** BullMQ remembers a failed opening for ever: shortly after one, the next use opens the queue again. */
function reopened(open: () => Queue): () => Queue {
  let queue: Queue | undefined;
  return () => {
    if (queue) return queue;
    const opening = (queue = open());
    opening.waitUntilReady().catch(() => setTimeout(() => (queue = undefined), reopenAfterMs).unref());
    return opening;
  };
}

export interface Running {
  /** Why the worker cannot open; null once it has. */
  refusal(): Error | null;
  close(): Promise<void>;
}

/**
 * Runs a worker once it has opened, and opens another one if that fails: a BullMQ worker would remember the failure for
 * ever and spin on it, which blocks the whole process.
 */
export function runWhenOpen(open: () => Worker): Running {
  let worker: Worker | undefined;
  let refusal: Error | null = null;
  let isOpen = false;
  const closing = new AbortController();
  const opening = async () => {
    for (
      let afterMs = reopenAfterMs;
      !closing.signal.aborted;
      afterMs = Math.min(2 * afterMs, maxReopenAfterMs)
    ) {
      worker = pausing(open());
      try {
        await worker.waitUntilReady();
        [isOpen, refusal] = [true, null];
        if (!closing.signal.aborted) await worker.run();
        return;
      } catch (error) {
        if (closing.signal.aborted) return;
        worker.emit('error', error as Error);
        if (isOpen) return;
        refusal = error as Error;
        worker.close(true).catch(() => undefined);
        await sleep(afterMs, undefined, { signal: closing.signal }).catch(() => undefined);
      }
    }
  };
  void opening();
  return {
    refusal: () => refusal,
    close: async () => {
      closing.abort();
      await worker?.close(!isOpen);
    },
  };
}

/** After an error BullMQ fetches again at once. If it was refused for good, that would take a whole core. */
function pausing(worker: Worker): Worker {
  const fetching = worker as unknown as { _getNextJob(...args: unknown[]): Promise<unknown> };
  const fetch = fetching._getNextJob.bind(worker);
  let failedAt = -Infinity;
  worker.on('error', () => (failedAt = performance.now()));
  fetching._getNextJob = async (...args) => {
    const restMs = failedAt + workerOptions.runRetryDelay - performance.now();
    if (restMs > 0) await sleep(restMs);
    return fetch(...args);
  };
  return worker;
}

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

export function redisBackend(
  url: string,
  prefix: string,
  opened: Opened,
  onError: (error: Error) => void,
): Backend {
  let lastError: Error | null = null;
  const open = (kind: 'fast' | 'blocking') => {
    const connection = connectRedis(url, kind);
    connection.on('error', (error: Error & { lastNodeError?: Error }) => {
      lastError = error.lastNodeError ?? error; // a cluster's own error does not say why
      onError(lastError);
    });
    // QUIT would wait for ever while Redis is unavailable.
    opened.push({
      close: async () => {
        if (connection.status === 'ready') await connection.quit().catch(() => undefined);
        connection.disconnect();
      },
    });
    return connection;
  };
  const producing = open('fast');
  // The hash tag keeps all keys of a queue on one node of a Redis Cluster, and spreads the queues over the nodes.
  const tagged = (name: string) => `{${prefix}-${name}}`;
  const over = url.startsWith('rediss') ? ' over TLS' : '';
  const requireConnection = () => {
    if (producing.status === 'ready') return;
    const reason = lastError ? describeError(lastError) : producing.status;
    throw new Error(`Redis is not connected${over}: ${reason}`);
  };
  const memories = async (): Promise<string[]> => {
    requireConnection();
    const nodes = 'nodes' in producing ? producing.nodes('master') : [producing];
    const texts = await Promise.all(nodes.map((node) => node.info('memory')));
    lastError = null; // not when it is ready: one whose database is refused is ready for a moment, again and again
    return texts;
  };
  return {
    // A start waits briefly for Redis, which may stay unavailable for any time.
    prepare: async () => {
      if (producing.status === 'ready') return;
      await Promise.race([new Promise((resolve) => producing.once('ready', resolve)), sleep(1_000)]);
    },
    queue: (name) =>
      reopened(() => {
        requireConnection();
        const queue = new Queue(name, { connection: producing, prefix: tagged(name) });
        queue.on('error', onError);
        return queue;
      }),
    worker: (name, concurrency, handle) => {
      const connection = open('blocking');
      return () =>
        new Worker(name, handle, {
          ...workerOptions,
          connection,
          prefix: tagged(name),
          concurrency,
          drainDelay: 5,
        });
    },
    check: async () => {
      const policies = (await memories()).map((text) => /maxmemory_policy:(\S+)/.exec(text)?.[1]);
      const wrong = policies.find((policy) => policy && policy !== 'noeviction');
      if (wrong)
        throw new Error(`Redis may drop jobs: its maxmemory-policy is ${wrong} and must be noeviction`);
    },
    memory: async () => nearestToLimit((await memories()).map(memoryOf)),
  };
}

/** Reads a node's INFO; a `maxmemory` of 0 is no limit. */
function memoryOf(info: string): QueueMemory {
  const bytes = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1] ?? NaN);
  return { usedBytes: bytes('used_memory'), limitBytes: bytes('maxmemory') || null };
}

const nearestToLimit = (nodes: QueueMemory[]): QueueMemory =>
  nodes.reduce((a, b) => (shareOf(b) > shareOf(a) ? b : a));

const shareOf = ({ usedBytes, limitBytes }: QueueMemory) =>
  usedBytes / (limitBytes ?? Number.MAX_SAFE_INTEGER);
