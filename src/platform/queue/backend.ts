import type { Job, Queue, Worker } from 'bullmq';
import { setTimeout as sleep } from 'node:timers/promises';

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

export const workerOptions = {
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
export function reopened(open: () => Queue): () => Queue {
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
