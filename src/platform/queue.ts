import { Queue, Worker, createPostgresBackend, withBackend, type BulkJobOptions, type Job } from 'bullmq';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { connectRedis } from './redis.js';
import { describeError } from './errors.js';
import { createThrottledWarn, type Logger } from './logger.js';

/** A job is a pointer: ids, or nothing where PostgreSQL is asked what is due. Never content. */
export interface JobSpec {
  name: string;
  /** Deterministic: adding the same id again while it waits is harmless. Without `:`, not digits only. */
  id: string;
  ids?: string[];
  delayMs?: number;
}

export interface Producer {
  /** Rejects soon while the engine is away; the sweeper brings what was lost. */
  add(jobs: JobSpec[]): Promise<void>;
  /** Jobs ready to run now. */
  waitingCount(): Promise<number>;
  counts(): Promise<Record<string, number>>;
  /** Age of the job that has waited longest; 0 if none waits. */
  oldestWaitingMs(): Promise<number>;
}

export interface QueueEngine {
  kind: 'redis' | 'postgres';
  /** Brings the engine's own tables up to date; once, before anything else. */
  prepare(): Promise<void>;
  producer(name: string): Producer;
  /** Runs `handle` for each job until `close`, which waits for the jobs under way. */
  consume(
    name: string,
    concurrency: number,
    handle: (job: { name: string; ids: string[] }) => Promise<void>,
  ): { close(): Promise<void> };
  /** Rejects with the reason if the engine does not answer or is set up to lose jobs. */
  check(): Promise<void>;
  close(): Promise<void>;
}

export interface QueueEngineOptions {
  redisUrl: string | undefined;
  databaseUrl: string;
  prefix: string;
  logger: Logger;
}

/** Recovery belongs to PostgreSQL and the sweeper: nothing of a job is kept, none is retried by the queue. */
const jobOptions: BulkJobOptions = { removeOnComplete: true, removeOnFail: true, attempts: 1 };
const workerOptions = {
  lockDuration: 10_000,
  stalledInterval: 5_000,
  runRetryDelay: 500, // after a failed fetch; BullMQ's own 15 s would add to every outage
  maxStalledCount: 10,
  removeOnComplete: { count: 0 },
  removeOnFail: { count: 0 },
};

/** How long closing may wait for an engine to answer. */
const closeTimeoutMs = 2_000;

/** BullMQ on Redis where a URL is given, else on PostgreSQL; nothing outside this file knows which. */
export function createQueueEngine(options: QueueEngineOptions): QueueEngine {
  const { logger } = options;
  const onError = createThrottledWarn(logger, 'queue engine');
  const opened: { close(): Promise<unknown> }[] = [];
  const backend = options.redisUrl
    ? redisBackend(options.redisUrl, options.prefix, opened, onError)
    : postgresBackend(options.databaseUrl, opened, onError);

  return {
    kind: options.redisUrl ? 'redis' : 'postgres',
    prepare: backend.prepare,
    producer: (name) => {
      const queue = backend.queue(name);
      return {
        add: async (jobs) => {
          await queue().addBulk(
            jobs.map(({ name: job, id, ids, delayMs }) => ({
              name: job,
              data: ids ? { ids } : {},
              opts: { ...jobOptions, jobId: id, ...(delayMs ? { delay: delayMs } : {}) },
            })),
          );
        },
        waitingCount: async () => queue().getWaitingCount(),
        counts: async () => queue().getJobCounts('waiting', 'active', 'delayed'),
        oldestWaitingMs: async () => {
          const [oldest] = await queue().getJobs(['waiting'], 0, 0, true);
          return oldest ? Math.max(0, Date.now() - oldest.timestamp) : 0;
        },
      };
    },
    consume: (name, concurrency, handle) => {
      const underWay = new Set<Promise<void>>();
      const worker = backend.worker(name, concurrency, (job) => {
        const work = handle({ name: job.name, ids: (job.data as { ids?: string[] }).ids ?? [] });
        underWay.add(work);
        return work.finally(() => underWay.delete(work));
      });
      worker.on('error', onError);
      worker.on('failed', (job, error) =>
        logger.warn(
          { queue: name, job: job?.name, error: describeError(error) },
          'job failed; the sweeper will see to it',
        ),
      );
      return {
        close: async () => {
          const closed = worker.close();
          await Promise.allSettled(underWay);
          // An engine that is away is not waited for: a job it did not hear the end of comes again, in vain.
          await Promise.race([closed, sleep(closeTimeoutMs)]);
        },
      };
    },
    check: backend.check,
    close: async () => {
      const closed = Promise.allSettled(opened.reverse().map((resource) => resource.close()));
      await Promise.race([closed, sleep(closeTimeoutMs)]);
    },
  };
}

interface Backend {
  prepare(): Promise<void>;
  /** Answers the queue, opened on first use; throws while the engine is away. */
  queue(name: string): () => Queue;
  worker(name: string, concurrency: number, handle: (job: Job) => Promise<void>): Worker;
  check(): Promise<void>;
}

function redisBackend(
  url: string,
  prefix: string,
  opened: { close(): Promise<unknown> }[],
  onError: (error: Error) => void,
): Backend {
  const open = (kind: 'fast' | 'blocking') => {
    const connection = connectRedis(url, kind);
    connection.on('error', onError);
    // QUIT would wait for ever for a Redis that is away.
    opened.push({
      close: async () => {
        if (connection.status === 'ready') await connection.quit().catch(() => undefined);
        connection.disconnect();
      },
    });
    return connection;
  };
  const producing = open('fast');
  // The hash tag keeps all keys of one queue on one node of a Redis Cluster, different queues on different ones.
  const tagged = (name: string) => `{${prefix}-${name}}`;
  return {
    // Redis may be away for as long as it likes; a start waits a moment for it, no more.
    prepare: async () => {
      if (producing.status === 'ready') return;
      await Promise.race([new Promise((resolve) => producing.once('ready', resolve)), sleep(1_000)]);
    },
    queue: (name) => {
      let queue: Queue | undefined;
      return () => {
        if (queue) return queue;
        if (producing.status !== 'ready') throw new Error(`Redis is away (${producing.status})`);
        const opening = (queue = new Queue(name, { connection: producing, prefix: tagged(name) }));
        opening.on('error', onError);
        // BullMQ remembers a failed opening for ever: the next use begins anew.
        opening.waitUntilReady().catch(() => (queue = undefined));
        return queue;
      };
    },
    worker: (name, concurrency, handle) =>
      new Worker(name, handle, {
        ...workerOptions,
        connection: open('blocking'),
        prefix: tagged(name),
        concurrency,
        drainDelay: 5,
      }),
    check: async () => {
      if ('nodes' in producing) return void (await producing.cluster('INFO'));
      const memory = await producing.info('memory');
      const policy = /maxmemory_policy:(\S+)/.exec(memory)?.[1];
      if (policy && policy !== 'noeviction') {
        throw new Error(`Redis may drop jobs: its maxmemory-policy is ${policy}, it must be noeviction`);
      }
    },
  };
}

/** All queues share one pool; BullMQ's own migrations run when the first queue opens. */
function postgresBackend(
  databaseUrl: string,
  opened: { close(): Promise<unknown> }[],
  onError: (error: Error) => void,
): Backend {
  const { Queue: PgQueue, Worker: PgWorker } = withBackend(createPostgresBackend);
  const settings = { connectionString: databaseUrl, connectionTimeoutMillis: 900, query_timeout: 10_000 };
  const pool = new pg.Pool({
    ...settings,
    application_name: 'parcelhook-queue',
    max: 20,
    keepAlive: true,
    // What the queue holds can be rebuilt, so its commits need not wait for the disk.
    options: '-c search_path=bullmq -c synchronous_commit=off',
  });
  pool.on('error', onError);
  pool.on('connect', (client) => void client.on('error', () => undefined));
  opened.push({ close: () => pool.end() });
  return {
    prepare: async () => {
      const first = new PgQueue('prepare', {
        connection: { ...settings, schema: 'bullmq', migrate: true, max: 1 },
      });
      first.on('error', onError);
      await first.waitUntilReady();
      await first.close();
    },
    queue: (name) => {
      const queue = new PgQueue(name, { connection: pool as never }) as unknown as Queue;
      queue.on('error', onError);
      opened.push(queue);
      return () => queue;
    },
    worker: (name, concurrency, handle) =>
      new PgWorker(name, handle, {
        ...workerOptions,
        connection: pool as never,
        concurrency,
      }) as unknown as Worker,
    check: async () => void (await pool.query('select 1')),
  };
}
