import { createDispatcher } from './deliveries/dispatcher.js';
import { queueNames, type DeliveryQueue } from './deliveries/enqueue.js';
import { maintainLog } from './deliveries/partitions.js';
import type { Sender } from './deliveries/send.js';
import { sweepDeliveries } from './deliveries/sweeper.js';
import type { RecordDependencies } from './events/record.js';
import { every } from './platform/every.js';
import type { Logger } from './platform/logger.js';
import type { Database } from './platform/postgres.js';
import type { Producer, QueueEngine } from './platform/queue.js';
import { createShipments } from './shipments/create.js';
import { creationQueueName } from './shipments/queue.js';
import { sweepOrders } from './shipments/sweep.js';
import type { SecretBox } from './webhooks/secrets.js';
import type { CompleteConfig } from './config.js';
import { userAgent } from './version.js';

export interface WorkerDependencies {
  config: CompleteConfig;
  db: Database;
  logger: Logger;
  engine: QueueEngine;
  /** Producers of the creation queue and of each delivery shard, by name. */
  producers: Map<string, Producer>;
  deliveryQueue: DeliveryQueue;
  enqueueCreation(shipmentIds: string[]): void;
  recordDependencies: RecordDependencies;
  initialState: string;
  secrets: SecretBox;
  sender: Sender;
}

export interface WorkerRole {
  /** Rejects unless a canary job has come through every queue in the last 30 s. */
  checkFlow(): Promise<void>;
  /** No new work; resolves when the attempts under way are recorded. */
  drain(): Promise<void>;
}

const creationConcurrency = 4;
const deliveryConcurrency = 8;
const sweepIntervalMs = 2_000;
const canaryIntervalMs = 5_000;
const canaryMaxAgeMs = 30_000;
const maintenanceIntervalMs = 3_600_000;

/** Creation, fan-out, delivery and sweeping (contract, section 1: role `worker`). */
export function startWorker(deps: WorkerDependencies): WorkerRole {
  const { config, db, logger, engine, deliveryQueue: queue } = deps;
  const dispatcher = createDispatcher({
    db,
    secrets: deps.secrets,
    send: (request) => deps.sender.send(request),
    queue,
    logger,
    concurrency: config.DELIVERY_CONCURRENCY,
    timeoutMs: config.DELIVERY_TIMEOUT,
    retryScheduleMs: config.RETRY_SCHEDULE,
    userAgent,
  });
  const creation = { ...deps.recordDependencies, initialState: deps.initialState };
  const lastCanaryAt = new Map<string, number>();

  const consume = (
    name: string,
    concurrency: number,
    handle: (job: { name: string; ids: string[] }) => Promise<unknown>,
  ) =>
    engine.consume(name, concurrency, async (job) => {
      if (job.name === 'canary') lastCanaryAt.set(name, Date.now());
      else await handle(job);
    });
  const consumers = [
    consume(creationQueueName, creationConcurrency, (job) => createShipments(creation, job.ids)),
    ...queueNames(config.DELIVERY_SHARDS).map((name) =>
      consume(name, deliveryConcurrency, dispatcher.handle),
    ),
  ];

  const sweeping = every(sweepIntervalMs, 'sweep', logger, async () => {
    await sweepOrders({
      db,
      producer: deps.producers.get(creationQueueName)!,
      enqueue: deps.enqueueCreation,
      logger,
    });
    await sweepDeliveries({ db, queue, logger });
  });
  const canaries = every(canaryIntervalMs, 'canary', logger, async () => {
    const job = { name: 'canary', id: `canary-${Date.now()}` };
    await Promise.all([...deps.producers.values()].map((producer) => producer.add([job])));
  });
  const maintenance = every(maintenanceIntervalMs, 'maintenance', logger, () => maintainLog(db));

  return {
    checkFlow: () => {
      const stale = [...deps.producers.keys()].filter(
        (name) => Date.now() - (lastCanaryAt.get(name) ?? 0) > canaryMaxAgeMs,
      );
      return stale.length === 0
        ? Promise.resolve()
        : Promise.reject(new Error(`no canary job came through ${stale.join(', ')} in the last 30 s`));
    },
    drain: async () => {
      const drained = dispatcher.drain();
      await Promise.all([
        sweeping.stop(),
        canaries.stop(),
        maintenance.stop(),
        ...consumers.map((consumer) => consumer.close()),
      ]);
      await drained;
    },
  };
}
