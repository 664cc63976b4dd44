import { createBatcher } from '../../platform/batch.js';
import { describeError } from '../../platform/errors.js';
import { createThrottledWarn } from '../../platform/telemetry/logger.js';
import type { Logger } from '../../platform/telemetry/logger.js';
import type { Producer } from '../../platform/queue/engine.js';
import { distinctDue, type Due } from '../outbox/types.js';

/** Goes through the queue. Fire and forget: the sweeper is the safety net. */
export type Notify = (due: Due[]) => void;

export const queueNames = (shards: number): string[] =>
  Array.from({ length: shards }, (_, n) => `deliver-${n}`);

export const dueJob = 'due';
export const redeliverJob = 'redeliver';
const idsPerJob = 200;
/** While more jobs wait, no worker reads them; the sweeper finds what is due anyway. */
const maxJobsWaiting = 1_000;
const countedEveryMs = 1_000;

/** One is enough for all that wait. */
export const createRedeliverJobs =
  (producer: Producer, logger: Logger) =>
  (deliveryId: string): void =>
    void producer
      .add([{ name: redeliverJob, id: `r-${deliveryId}-${Date.now()}`, ids: [deliveryId] }])
      .catch((error: unknown) =>
        logger.warn({ error: describeError(error) }, 'redelivery not enqueued; the sweeper sends it'),
      );

/** The random tail of a webhook's id spreads webhooks over the shards. */
const shardOf = (webhookId: string, shards: number) => Number.parseInt(webhookId.slice(-6), 16) % shards;

/** `<webhookId>@<epoch ms>`, or the webhook's id alone if the time is unknown. */
const toId = ({ webhookId, dueFromMs }: Due) =>
  dueFromMs === null ? webhookId : `${webhookId}@${dueFromMs}`;

export function dueOf(ids: string[]): Due[] {
  return ids.map((id) => {
    const [webhookId, dueFrom] = id.split('@');
    const dueFromMs = dueFrom === undefined ? NaN : Number(dueFrom);
    return { webhookId: webhookId!, dueFromMs: Number.isFinite(dueFromMs) ? dueFromMs : null };
  });
}

export function createNotify(producers: Producer[], logger: Logger): Notify {
  const giveUp = createThrottledWarn(logger, 'due webhooks not enqueued; left to the sweeper');
  let jobs = 0;

  const shards = producers.map((producer) => {
    let full = false;
    let countedAt = 0;
    const isFull = async () => {
      if (performance.now() - countedAt < countedEveryMs) return full;
      countedAt = performance.now();
      return (full = (await producer.waitingCount()) > maxJobsWaiting);
    };
    const add = async (due: Due[]) => {
      if (await isFull()) return;
      jobs += 1;
      const id = `${dueJob}-${Date.now()}-${jobs}-${due[0]!.webhookId}`;
      await producer.add([{ name: dueJob, id, ids: due.map(toId) }]);
    };
    return createBatcher<Due, undefined>({
      maxItems: idsPerJob,
      concurrency: 1,
      maxWaiting: 100_000,
      flush: async (due) => {
        await add(distinctDue(due)).catch(giveUp);
        return due.map(() => undefined);
      },
    });
  });

  return (due) => {
    for (const one of distinctDue(due))
      shards[shardOf(one.webhookId, producers.length)]!.add(one).catch(() => undefined); // left to the sweeper
  };
}
