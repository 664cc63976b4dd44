import type { BulkJobOptions, Job } from 'bullmq';
import { setTimeout as sleep } from 'node:timers/promises';
import { describeError } from '../errors.js';
import { createThrottledWarn, type Logger } from '../telemetry/logger.js';
import { runWhenOpen, type Opened, type Running, postgresBackend, redisBackend } from './backends.js';

/** A job is a pointer: ids, or nothing if the worker asks PostgreSQL what is due. It never has content. */
export interface JobSpec {
  name: string;
  /** Adding an id that still waits has no effect. Must not contain `:` or be all digits. */
  id: string;
  ids?: string[];
}

export interface Producer {
  /** Rejects soon while the engine is unavailable; the sweeper recovers what is lost. */
  add(jobs: JobSpec[]): Promise<void>;
  waitingCount(): Promise<number>;
  counts(): Promise<Record<string, number>>;
  oldestWaitingMs(): Promise<number>;
}

export type QueueEngine = ReturnType<typeof createQueueEngine>;

export interface QueueEngineOptions {
  redisUrl: string | undefined;
  databaseUrl: string;
  prefix: string;
  logger: Logger;
}

/** PostgreSQL and the sweeper recover lost work: the queue keeps no finished job and retries none. */
const jobOptions: BulkJobOptions = { removeOnComplete: true, removeOnFail: true, attempts: 1 };

const fewJobs = 4;

const toBulkJob = ({ name, id, ids }: JobSpec) => ({
  name,
  data: ids ? { ids } : {},
  opts: { ...jobOptions, jobId: id },
});

const closeTimeoutMs = 2_000;

export function createQueueEngine(options: QueueEngineOptions) {
  const { logger } = options;
  const onError = createThrottledWarn(logger, 'queue engine error; retrying');
  const opened: Opened = [];
  const backend = options.redisUrl
    ? redisBackend(options.redisUrl, options.prefix, opened, onError)
    : postgresBackend(options.databaseUrl, opened, onError);

  const workers: Running[] = [];

  return {
    kind: options.redisUrl ? ('redis' as const) : ('postgres' as const),
    /** Call it once, before anything else. */
    prepare: backend.prepare,
    producer: (name: string): Producer => {
      const queue = backend.queue(name);
      return {
        add: async (jobs) => {
          const specs = jobs.map(toBulkJob);
          // In bulk, PostgreSQL creates and drops two temporary tables: ten times the cost for a few jobs.
          if (specs.length > fewJobs) await queue().addBulk(specs);
          else for (const { name, data, opts } of specs) await queue().add(name, data, opts);
        },
        waitingCount: async () => queue().getJobCountByTypes('waiting'),
        counts: () => queue().getJobCounts('waiting', 'active', 'delayed'),
        oldestWaitingMs: async () => {
          const oldest = await queue().getJobs(['waiting'], 0, 0, true);
          return Math.max(0, ...oldest.map(({ timestamp }) => Date.now() - timestamp));
        },
      };
    },
    /** Consumes until `close`, which waits for the jobs under way. */
    consume: (
      name: string,
      concurrency: number,
      handle: (job: { name: string; ids: string[] }) => Promise<void>,
    ) => {
      const underWay = new Set<Promise<void>>();
      let lastError: Error | null = null;
      const take = (job: Job) => {
        lastError = null;
        const work = handle({ name: job.name, ids: (job.data as { ids?: string[] }).ids ?? [] });
        underWay.add(work);
        return work.finally(() => underWay.delete(work));
      };
      const open = backend.worker(name, concurrency, take);
      const worker = runWhenOpen(() =>
        open()
          .on('error', (error) => {
            lastError = error;
            onError(error);
          })
          .on('failed', (job, error) =>
            logger.warn(
              { queue: name, job: job?.name, error: describeError(error) },
              'job failed; the sweeper takes over',
            ),
          ),
      );
      workers.push(worker);
      return {
        /** The last error since a job came; null if there was none. */
        lastError: () => lastError,
        close: async () => {
          const closed = worker.close();
          await Promise.allSettled(underWay);
          // Closing does not wait for an unavailable engine: it offers the unconfirmed job again, which has no effect.
          await Promise.race([closed, sleep(closeTimeoutMs)]);
        },
      };
    },
    /** Rejects with the reason if the engine does not respond or is configured to lose jobs. */
    check: async () => {
      await backend.check();
      const refusal = workers.map((worker) => worker.refusal()).find(Boolean);
      if (refusal) throw refusal;
    },
    memory: backend.memory,
    close: async () => {
      const closed = Promise.allSettled(opened.reverse().map((resource) => resource.close()));
      await Promise.race([closed, sleep(closeTimeoutMs)]);
    },
  };
}
