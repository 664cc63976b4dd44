import { createDispatcher } from './deliveries/dispatcher.js';
import { queueNames } from './deliveries/enqueue.js';
import { maintainLog } from './deliveries/partitions.js';
import { createSender } from './deliveries/send.js';
import { sweepDeliveries } from './deliveries/sweeper.js';
import { every } from './platform/every.js';
import { createShipments } from './shipments/create.js';
import { creationQueueName } from './shipments/queue.js';
import { sweepOrders } from './shipments/sweep.js';
import type { Resources } from './resources.js';
import { userAgent } from './version.js';

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
export function startWorker(resources: Resources): WorkerRole {
  const { config, workerDb: db, logger, engine, deliveryQueue: queue, producers } = resources;
  const proxy = config.EGRESS_PROXY;
  const sender = createSender({
    policy: resources.policy,
    ...(proxy !== undefined && { egressProxy: proxy }),
  });
  resources.releasers.push('sender', () => Promise.resolve(sender.close()));
  const dispatcher = createDispatcher({
    db,
    secrets: resources.secrets,
    send: sender.send,
    queue,
    logger,
    concurrency: config.DELIVERY_CONCURRENCY,
    timeoutMs: config.DELIVERY_TIMEOUT,
    retryScheduleMs: config.RETRY_SCHEDULE,
    userAgent,
  });
  const creation = { ...resources.recording(db), initialState: resources.catalogue.initial };
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
      producer: producers.get(creationQueueName)!,
      enqueue: resources.enqueueCreation,
      logger,
    });
    await sweepDeliveries({ db, queue, logger });
  });
  const canaries = every(canaryIntervalMs, 'canary', logger, async () => {
    const job = { name: 'canary', id: `canary-${Date.now()}` };
    await Promise.all([...producers.values()].map((producer) => producer.add([job])));
  });
  const maintenance = every(maintenanceIntervalMs, 'maintenance', logger, () => maintainLog(db));

  let draining: Promise<void> | undefined;
  const drain = async () => {
    const drained = dispatcher.drain();
    await Promise.all([
      sweeping.stop(),
      canaries.stop(),
      maintenance.stop(),
      ...consumers.map((consumer) => consumer.close()),
    ]);
    await drained;
  };

  return {
    checkFlow: () => {
      const stale = [...producers.keys()].filter(
        (name) => Date.now() - (lastCanaryAt.get(name) ?? 0) > canaryMaxAgeMs,
      );
      return stale.length === 0
        ? Promise.resolve()
        : Promise.reject(new Error(`no canary job came through ${stale.join(', ')} in the last 30 s`));
    },
    drain: () => (draining ??= drain()),
  };
}
