import type { Job, Queue, Worker } from 'bullmq';

/** What an engine opens of its own; it is closed with the engine. */
export type Opened = { close(): Promise<unknown> }[];

export interface Backend {
  prepare(): Promise<void>;
  /** Answers the queue, opened on first use; throws while the engine is away. */
  queue(name: string): () => Queue;
  /** `listen` is given every worker before it runs. */
  worker(
    name: string,
    concurrency: number,
    handle: (job: Job) => Promise<void>,
    listen: (worker: Worker) => void,
  ): Pick<Worker, 'close'>;
  check(): Promise<void>;
}

export const workerOptions = {
  lockDuration: 10_000,
  stalledInterval: 5_000,
  runRetryDelay: 500, // after a failed fetch; BullMQ's own 15 s would add to every outage
  maxStalledCount: 10,
  removeOnComplete: { count: 0 },
  removeOnFail: { count: 0 },
};

const reopenAfterMs = 500;

/** BullMQ remembers a failed opening for ever: after a moment the next use begins anew. */
export function reopened(open: () => Queue): () => Queue {
  let queue: Queue | undefined;
  return () => {
    if (queue) return queue;
    const opening = (queue = open());
    opening.waitUntilReady().catch(() => setTimeout(() => (queue = undefined), reopenAfterMs).unref());
    return opening;
  };
}
