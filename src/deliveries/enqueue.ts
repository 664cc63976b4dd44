import { createBatcher } from '../platform/batch.js';
import { createThrottledWarn, type Logger } from '../platform/logger.js';
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
  /**
   * Tells some worker that a webhook has more waiting than this one can send: once a second each, and of at most ten
   * webhooks a second; the others ask in a later second.
   */
  askForHelp(webhookId: string): void;
  /** Jobs ready to run, over all shards. */
  waitingCount(): Promise<number>;
}

export const queueNames = (shards: number): string[] =>
  Array.from({ length: shards }, (_, n) => `deliver-${n}`);

const idsPerJob = 50;
const rememberedWakes = 1_000;
/** What one event owes to more webhooks than this gives way to what other events owe. */
const webhooksAtOnce = 100;
const helpCallsPerSecond = 10;

/** The random tail of a webhook's id spreads webhooks over the shards. */
const shardOf = (webhookId: string, shards: number) => Number.parseInt(webhookId.slice(-6), 16) % shards;

export function createDeliveryQueue(producers: Producer[], logger: Logger): DeliveryQueue {
  const giveUp = createThrottledWarn(logger, 'not enqueued; the sweeper will see to it');

  const batchersOf = (givesWay: boolean) =>
    producers.map((producer) =>
      createBatcher<DueDelivery, undefined>({
        maxItems: 1_000,
        concurrency: 1,
        maxWaiting: 100_000,
        flush: async (due) => {
          await producer.add(jobsOf(due, givesWay)).catch(giveUp);
          return due.map(() => undefined);
        },
      }),
    );
  const atOnce = batchersOf(false);
  const later = batchersOf(true);

  const wakes = new Set<number>();
  let asked = { second: 0, webhooks: new Set<string>() };
  return {
    enqueue: (due) => {
      const givesWay = whoGivesWay(due);
      for (const delivery of due) {
        const byShard = givesWay(delivery) ? later : atOnce;
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
      producers[second % producers.length]?.add([job]).catch((error: unknown) => {
        wakes.delete(second); // the next retry of that second tries again
        giveUp(error);
      });
    },
    askForHelp: (webhookId) => {
      const second = Math.floor(Date.now() / 1_000);
      if (asked.second !== second) asked = { second, webhooks: new Set() };
      if (asked.webhooks.has(webhookId) || asked.webhooks.size >= helpCallsPerSecond) return;
      asked.webhooks.add(webhookId);
      const job = { name: 'help', id: `help-${webhookId}-${second}`, ids: [webhookId] };
      producers[shardOf(webhookId, producers.length)]?.add([job]).catch(giveUp);
    },
    waitingCount: async () => {
      const counts = await Promise.all(producers.map((producer) => producer.waitingCount()));
      return counts.reduce((sum, count) => sum + count, 0);
    },
  };
}

/**
 * Tells the deliveries beyond the first hundred webhooks of their event. An event is known by the head of a
 * delivery's id, which events of the same millisecond may share; so webhooks are counted, not deliveries.
 */
function whoGivesWay(due: DueDelivery[]): (delivery: DueDelivery) => boolean {
  if (due.length <= webhooksAtOnce) return () => false;
  const webhooksOf = new Map<string, Set<string>>();
  return ({ deliveryId, webhookId }) => {
    const event = deliveryId.slice(0, 18);
    const webhooks = webhooksOf.get(event) ?? new Set();
    webhooksOf.set(event, webhooks.add(webhookId));
    return webhooks.size > webhooksAtOnce;
  };
}

/** Reads the ids of a job of `jobsOf`: those of deliveries and webhooks in turn. */
export const dueOf = (ids: string[]): DueDelivery[] =>
  ids.flatMap((deliveryId, index) =>
    index % 2 === 0 ? [{ deliveryId, webhookId: ids[index + 1] ?? '' }] : [],
  );

/** Ids are unique by their first delivery and the moment: re-adding the id of a waiting job would be ignored. */
function jobsOf(due: DueDelivery[], givesWay: boolean): JobSpec[] {
  const jobs: JobSpec[] = [];
  for (let start = 0; start < due.length; start += idsPerJob) {
    const piece = due.slice(start, start + idsPerJob);
    const ids = piece.flatMap(({ deliveryId, webhookId }) => [deliveryId, webhookId]);
    jobs.push({ name: 'deliver', id: `d-${ids[0]}-${Date.now()}`, ids, givesWay });
  }
  return jobs;
}
