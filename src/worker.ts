import { createDispatcher } from './deliveries/dispatcher.js';
import { dueOf, queueNames } from './deliveries/enqueue.js';
import { createManualSender } from './deliveries/manual.js';
import { makeLogPartitions } from './deliveries/partitions.js';
import { advanceReplays } from './deliveries/replay.js';
import { dropExpiredDays } from './deliveries/retention.js';
import { createDeliverySweep } from './deliveries/sweeper.js';
import { refreshGauges } from './operator/gauges.js';
import { every } from './platform/every.js';
import { createShipments } from './shipments/create.js';
import { dropExpiredKeys } from './shipments/idempotency-keys.js';
import { creationQueueName } from './shipments/queue.js';
import { sweepOrders } from './shipments/sweep.js';
import type { Resources } from './resources.js';
import { userAgent } from './version.js';

export interface WorkerRole {
  /** Rejects unless a canary, or any other job, has come through every queue to this process in the last 30 s. */
  checkFlow(): Promise<void>;
  /** No new work; resolves when the attempts under way are recorded. */
  drain(): Promise<void>;
}

const creationConcurrency = 4;
const deliveryConcurrency = 8;
const sweepIntervalMs = 2_000;
const canaryIntervalMs = 3_000;
const flowMaxAgeMs = 30_000;
const gaugeIntervalMs = 15_000;
const maintenanceIntervalMs = 3_600_000;

/** Creation, fan-out, delivery and sweeping (contract, section 1: role `worker`). */
export function startWorker(resources: Resources): WorkerRole {
  const { config, workerDb: db, logger, metrics, engine, deliveryQueue: queue, producers } = resources;
  const dispatcher = createDispatcher({
    db,
    leaseDb: resources.leaseDb,
    secrets: resources.secrets,
    send: resources.sender.send,
    queue,
    logger,
    metrics,
    concurrency: config.DELIVERY_CONCURRENCY,
    timeoutMs: config.DELIVERY_TIMEOUT,
    retryScheduleMs: config.RETRY_SCHEDULE,
    orderHoldMs: config.ORDER_HOLD,
    userAgent,
  });
  const manual = createManualSender({
    db,
    secrets: resources.secrets,
    send: resources.sender.send,
    logger,
    metrics,
    timeoutMs: config.DELIVERY_TIMEOUT,
    userAgent,
    queue,
  });
  const creation = { ...resources.recording(db), initialState: resources.catalogue.initial };
  const startedAt = Date.now();
  const lastJobAt = new Map<string, number>();
  metrics.onScrape(() => {
    for (const name of producers.keys())
      metrics.canaryAge.set({ queue: name }, (Date.now() - (lastJobAt.get(name) ?? startedAt)) / 1_000);
  });

  const consume = (
    name: string,
    concurrency: number,
    handle: (job: { name: string; ids: string[] }) => Promise<unknown>,
  ) =>
    engine.consume(name, concurrency, async (job) => {
      lastJobAt.set(name, Date.now());
      if (job.name !== 'canary') await handle(job);
    });
  const consumers = [
    consume(creationQueueName, creationConcurrency, (job) => createShipments(creation, job.ids)),
    ...queueNames(config.DELIVERY_SHARDS).map((name) =>
      consume(name, deliveryConcurrency, (job) => {
        if (job.name === 'manual') return manual.handle(job.ids);
        if (job.name === 'help') return dispatcher.help(job.ids[0]!);
        return dispatcher.handle({ name: job.name, due: dueOf(job.ids) });
      }),
    ),
  ];

  const orders = every(sweepIntervalMs, 'sweep orders', logger, () =>
    sweepOrders({
      db,
      producer: producers.get(creationQueueName)!,
      enqueue: resources.enqueueCreation,
      logger,
      metrics,
    }),
  );
  const sweepDeliveries = createDeliverySweep({
    db,
    queue,
    logger,
    metrics,
    deliveryTimeoutMs: config.DELIVERY_TIMEOUT,
    orderHoldMs: config.ORDER_HOLD,
  });
  const deliveries = every(sweepIntervalMs, 'sweep deliveries', logger, sweepDeliveries);
  const byHand = every(sweepIntervalMs, 'sweep by hand', logger, () => manual.sweep());
  const replays = every(sweepIntervalMs, 'replays', logger, () =>
    advanceReplays({ db, queue, logger, retentionMs: config.LOG_RETENTION }),
  );
  const canaries = every(canaryIntervalMs, 'canary', logger, async () => {
    const job = { name: 'canary', id: `canary-${Date.now()}` };
    await Promise.all([...producers.values()].map((producer) => producer.add([job])));
  });
  const gauges = every(gaugeIntervalMs, 'gauges', logger, () => refreshGauges({ db, producers, metrics }));
  const maintenance = every(maintenanceIntervalMs, 'maintenance', logger, async () => {
    await makeLogPartitions(db);
    await dropExpiredDays(db, config.LOG_RETENTION, logger);
    await dropExpiredKeys(db);
  });

  let draining: Promise<void> | undefined;
  const drain = async () => {
    const drained = Promise.all([dispatcher.drain(), manual.drain()]);
    await Promise.all([
      orders.stop(),
      deliveries.stop(),
      byHand.stop(),
      replays.stop(),
      canaries.stop(),
      gauges.stop(),
      maintenance.stop(),
      ...consumers.map((consumer) => consumer.close()),
    ]);
    await drained;
  };

  return {
    checkFlow: () => {
      const stale = [...producers.keys()].filter(
        (name) => Date.now() - (lastJobAt.get(name) ?? 0) > flowMaxAgeMs,
      );
      return stale.length === 0
        ? Promise.resolve()
        : Promise.reject(
            new Error(`no job, not even a canary, came through ${stale.join(', ')} in the last 30 s`),
          );
    },
    drain: () => (draining ??= drain()),
  };
}
