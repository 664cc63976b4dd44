import type { Job, Queue, Worker } from 'bullmq';

export type Opened = { close(): Promise<unknown> }[];

export interface QueueMemory {
  usedBytes: number;
  limitBytes: number | null;
}

export interface Backend {
  prepare(): Promise<void>;
  /** Opened on first use; the function throws while the backend is unavailable. */
  queue(name: string): () => Queue;
  /** `listen` is called with every worker before it runs. */
  worker(
    name: string,
    concurrency: number,
    handle: (job: Job) => Promise<void>,
    listen: (worker: Worker) => void,
  ): Pick<Worker, 'close'>;
  check(): Promise<void>;
  memory(): Promise<QueueMemory | null>;
}

export const workerOptions = {
  lockDuration: 10_000,
  stalledInterval: 15_000, // the sweeper finds sooner what a dead worker's jobs were for
  runRetryDelay: 500, // after a failed fetch; BullMQ's default of 15 s would prolong every outage
  maxStalledCount: 10,
  removeOnComplete: { count: 0 },
  removeOnFail: { count: 0 },
};

const reopenAfterMs = 500;

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
