import { createBatcher } from '../platform/batch.js';
import { describeError } from '../platform/errors.js';
import type { Logger } from '../platform/logger.js';
import type { JobSpec, Producer } from '../platform/queue.js';

/** A delivery that is due now. */
export interface DueDelivery {
  deliveryId: string;
  webhookId: string;
}

/** Puts pointers into the delivery queue. Nothing here is waited for or retried: the sweeper is the safety net. */
export interface DeliveryQueue {
  enqueue(due: DueDelivery[]): void;
  /** Makes a worker look for due retries at a moment; the retries of one second share one job. */
  wakeAt(moment: Date): void;
  /** Jobs ready to run, over all shards. */
  waitingCount(): Promise<number>;
}

export const queueNames = (shards: number): string[] =>
  Array.from({ length: shards }, (_, n) => `deliver-${n}`);

const idsPerJob = 50;
const rememberedWakes = 1_000;

/** The random tail of a webhook's id spreads webhooks over the shards. */
const shardOf = (webhookId: string, shards: number) => Number.parseInt(webhookId.slice(-6), 16) % shards;

export function createDeliveryQueue(producers: Producer[], logger: Logger): DeliveryQueue {
  const add = (producer: Producer | undefined, jobs: JobSpec[]) =>
    producer
      ?.add(jobs)
      .catch((error: unknown) =>
        logger.warn(
          { jobs: jobs.length, error: describeError(error) },
          'not enqueued; the sweeper will see to it',
        ),
      );

  const byShard = producers.map((producer) =>
    createBatcher<DueDelivery, undefined>({
      maxItems: 1_000,
      concurrency: 1,
      maxWaiting: 100_000,
      flush: async (due) => {
        await add(producer, jobsOf(due));
        return due.map(() => undefined);
      },
    }),
  );

  const wakes = new Set<number>();
  return {
    enqueue: (due) => {
      for (const delivery of due) {
        const shard = byShard[shardOf(delivery.webhookId, producers.length)];
        shard?.add(delivery).catch(() => undefined); // too many are waiting: left to the sweeper
      }
    },
    wakeAt: (moment) => {
      const second = Math.ceil(moment.getTime() / 1_000);
      if (wakes.has(second)) return;
      if (wakes.size >= rememberedWakes) wakes.clear();
      wakes.add(second);
      const job = { name: 'wake', id: `wake-${second}`, delayMs: Math.max(0, second * 1_000 - Date.now()) };
      void add(producers[second % producers.length], [job]);
    },
    waitingCount: async () => {
      const counts = await Promise.all(producers.map((producer) => producer.waitingCount()));
      return counts.reduce((sum, count) => sum + count, 0);
    },
  };
}

/** Ids are unique by their first delivery and the moment: re-adding the id of a waiting job would be ignored. */
function jobsOf(due: DueDelivery[]): JobSpec[] {
  const jobs: JobSpec[] = [];
  for (let start = 0; start < due.length; start += idsPerJob) {
    const ids = due.slice(start, start + idsPerJob).map((delivery) => delivery.deliveryId);
    jobs.push({ name: 'deliver', id: `d-${ids[0]}-${Date.now()}`, ids });
  }
  return jobs;
}
