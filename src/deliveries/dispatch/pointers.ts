import { createBatcher } from '../../platform/batch.js';
import { createThrottledWarn, type Logger } from '../../platform/logger.js';
import type { Producer } from '../../platform/queue/engine.js';

/** Tells workers of other processes, by the queue, which webhooks have something due. */
export interface Pointers {
  /**
   * What became due just now, or (`look`) may have been due for long. Never waited for or retried: the sweeper is the
   * safety net.
   */
  point(kind: 'due' | 'look', webhookIds: string[]): void;
}

export const queueNames = (shards: number): string[] =>
  Array.from({ length: shards }, (_, n) => `deliver-${n}`);

const idsPerJob = 200;
/** While more jobs than this wait, nobody reads them: what is due stands in PostgreSQL anyhow. */
const mostWaiting = 1_000;
const countedEveryMs = 1_000;

/** The random tail of a webhook's id spreads webhooks over the shards. */
const shardOf = (webhookId: string, shards: number) => Number.parseInt(webhookId.slice(-6), 16) % shards;

export function createPointers(producers: Producer[], logger: Logger): Pointers {
  const giveUp = createThrottledWarn(logger, 'not enqueued; the sweeper will see to it');
  let jobs = 0;

  const shardsOf = (kind: string) =>
    producers.map((producer) => {
      let full = false;
      let countedAt = 0;
      const isFull = async () => {
        if (performance.now() - countedAt < countedEveryMs) return full;
        countedAt = performance.now();
        return (full = (await producer.waitingCount()) > mostWaiting);
      };
      const add = async (ids: string[]) => {
        if (!(await isFull()))
          await producer.add([{ name: kind, id: `${kind}-${Date.now()}-${(jobs += 1)}-${ids[0]}`, ids }]);
      };
      return createBatcher<string, undefined>({
        maxItems: idsPerJob,
        concurrency: 1,
        maxWaiting: 100_000,
        flush: async (webhookIds) => {
          await add([...new Set(webhookIds)]).catch(giveUp);
          return webhookIds.map(() => undefined);
        },
      });
    });

  const shards = { due: shardsOf('due'), look: shardsOf('look') };

  return {
    point: (kind, webhookIds) => {
      for (const webhookId of new Set(webhookIds))
        shards[kind][shardOf(webhookId, producers.length)]!.add(webhookId).catch(() => undefined); // left to the sweeper
    },
  };
}
