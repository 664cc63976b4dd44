import { createBatcher } from '../platform/batch.js';
import { createThrottledWarn, type Logger } from '../platform/logger.js';
import type { Producer } from '../platform/queue/engine.js';

export const creationQueueName = 'create';
const idsPerJob = 100;

/** Puts accepted orders into the creation queue; resolves when it is there, or was given up: the sweeper finds what is lost. */
export function createCreationQueue(producer: Producer, logger: Logger) {
  const giveUp = createThrottledWarn(logger, 'not enqueued; the sweeper will see to it');
  const batcher = createBatcher<string, undefined>({
    maxItems: idsPerJob,
    concurrency: 1,
    maxWaiting: 50_000,
    flush: async (ids) => {
      await producer.add([{ name: 'create', id: `c-${ids[0]}-${Date.now()}`, ids }]).catch(giveUp);
      return ids.map(() => undefined);
    },
  });
  return (shipmentId: string): Promise<void> => batcher.add(shipmentId).catch(() => undefined);
}
