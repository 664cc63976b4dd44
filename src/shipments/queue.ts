import { createBatcher } from '../platform/batch.js';
import { describeError } from '../platform/errors.js';
import type { Logger } from '../platform/logger.js';
import type { Producer } from '../platform/queue.js';

export const creationQueueName = 'create';
const idsPerJob = 100;

/** Puts accepted orders into the creation queue; never waited for, the sweeper finds what is lost. */
export function createCreationQueue(producer: Producer, logger: Logger) {
  const batcher = createBatcher<string, undefined>({
    maxItems: idsPerJob,
    concurrency: 1,
    maxWaiting: 50_000,
    flush: async (ids) => {
      await producer
        .add([{ name: 'create', id: `c-${ids[0]}`, ids }])
        .catch((error: unknown) =>
          logger.warn(
            { orders: ids.length, error: describeError(error) },
            'not enqueued; the sweeper will see to it',
          ),
        );
      return ids.map(() => undefined);
    },
  });
  return (shipmentIds: string[]): void => {
    for (const id of shipmentIds) batcher.add(id).catch(() => undefined);
  };
}
