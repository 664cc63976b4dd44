import { createDispatcher } from './deliveries/dispatch/dispatcher.js';
import { queueNames } from './deliveries/dispatch/pointers.js';
import { makeLogPartitions } from './deliveries/retention/partitions.js';
import { createPurge } from './deliveries/retention/purge.js';
import { dropExpiredDays } from './deliveries/retention/retention.js';
import { createFold } from './deliveries/stats/fold.js';
import { dropOldHours } from './deliveries/stats/retention.js';
import { disableHopeless } from './deliveries/circuit/transitions.js';
import { createRedeliverer } from './deliveries/on-demand/redelivery.js';
import { advanceReplays } from './deliveries/replay/replay.js';
import { byHandLeaseMs } from './deliveries/on-demand/send-by-hand.js';
import type { HandOver } from './deliveries/outbox/hand-over.js';
import { createSweep } from './deliveries/recovery/sweeper.js';
import { refreshGauges } from './operator/gauges.js';
import { createRemoval } from './operator/removal/removal.js';
import { every, sparing } from './platform/every.js';
import { createInProcess, createShipments, sweepOrders } from './shipments/create.js';
import { eraseExpired } from './shipments/erasure/retention.js';
import { advanceSimulations } from './shipments/simulation/advance.js';
import type { ShipmentHead } from './events/store.js';
import { dropExpiredKeys } from './shipments/store.js';
import { creationQueueName } from './shipments/queue.js';
import type { Resources } from './resources.js';
import { resealWebhooks } from './webhooks/at-rest/reseal.js';
import { sealedForm } from './webhooks/at-rest/secrets.js';
import { version } from './version.js';

export interface WorkerRole {
  /** What is recorded in this process is sent by it. */
  handOver: HandOver;
  /** Deliveries that could go out now and wait for this process. */
  pressure(): number;
  /** Creates an order that this process has accepted; resolves when it is created or left to the sweeper. */
  create(order: ShipmentHead): Promise<void>;
  /** A simulation has begun. */
  simulate(): void;
  /** Rejects unless a canary, or any other job, has come through every queue to this process in the last 30 s. */
  checkFlow(): Promise<void>;
  /** No new work; resolves when the attempts under way are recorded. */
  drain(): Promise<void>;
}

const creationConcurrency = 4;
const deliveryConcurrency = 8;
const flowMaxAgeMs = 30_000;
const gaugeIntervalMs = 15_000;
const maintenanceIntervalMs = 3_600_000;
const daysWithoutSuccess = 5;
const purgeIntervalMs = 600_000;
const purgeStepMs = 2_000;
const foldPauseMs = 100;
const erasureIntervalMs = 600_000;
const erasurePauseMs = 500;

/** Creation, fan-out, delivery and sweeping (contract, section 1: role `worker`). */
export function startWorker(resources: Resources): WorkerRole {
  const { config, workerDb: db, logger, metrics, engine, producers, pointers, times } = resources;
  const sending = {
    db,
    send: resources.sender.send,
    targets: resources.targets,
    starts: resources.starts,
    logger,
    metrics,
    times,
    timeoutMs: config.DELIVERY_TIMEOUT,
    orderHoldMs: config.ORDER_HOLD,
    version,
  };
  const dispatcher = createDispatcher({
    ...sending,
    leaseDb: resources.leaseDb,
    concurrency: config.DELIVERY_CONCURRENCY,
    retryScheduleMs: config.RETRY_SCHEDULE,
    terminalStates: resources.terminalStates,
    onLeft: (webhookIds) => pointers.point('look', webhookIds),
  });
  const { look } = dispatcher;
  const redeliverer = createRedeliverer({
    ...sending,
    look,
    leaseMs: byHandLeaseMs(config.DELIVERY_TIMEOUT, times),
  });
  const creation = {
    ...resources.recording(db, dispatcher),
    initialState: resources.catalogue.initial,
    logger,
  };
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
      consume(name, deliveryConcurrency, async (job) => {
        if (job.name === 'redeliver') await redeliverer.handle(job.ids);
        else if (job.name === 'due') dispatcher.lookAhead(job.ids);
        else look(job.ids);
      }),
    ),
  ];

  // Under an old snapshot what is long gone is read again and again: then these come more rarely.
  const orders = every(
    times.sweepRestEveryMs,
    'sweep orders',
    logger,
    sparing(times.sweepRestEveryMs, () =>
      sweepOrders({ db, create: (ids) => createShipments(creation, ids), logger, metrics }),
    ),
  );
  const sweep = createSweep({
    ...sending,
    look,
    accept: dispatcher.accept,
    check: dispatcher.check,
    deliveryTimeoutMs: config.DELIVERY_TIMEOUT,
  });
  const deliveries = every(times.sweepEveryMs, 'sweep deliveries', logger, sweep);
  const rest = every(
    times.sweepRestEveryMs,
    'sweep the rest',
    logger,
    sparing(times.sweepRestEveryMs, async () => {
      await redeliverer.sweep();
      await disableHopeless({ ...sending, look }, daysWithoutSuccess);
    }),
  );
  const replays = every(times.sweepEveryMs, 'replays', logger, async () => {
    const deps = {
      db,
      logger,
      look,
      retentionMs: config.LOG_RETENTION,
      orderHoldMs: config.ORDER_HOLD,
      ...times,
    };
    return (await advanceReplays(deps)) ? times.replayEveryMs : undefined;
  });
  const simulations = config.SIMULATE
    ? every(times.sweepEveryMs, 'simulations', logger, () => advanceSimulations(creation))
    : null;
  const canaries = every(times.canaryEveryMs, 'canary', logger, async () => {
    const job = { name: 'canary', id: `canary-${Date.now()}` };
    await Promise.all([...producers.values()].map((producer) => producer.add([job])));
  });
  const gauges = every(
    gaugeIntervalMs,
    'gauges',
    logger,
    sparing(gaugeIntervalMs, () => refreshGauges({ db, producers, metrics })),
  );
  const maintenance = every(maintenanceIntervalMs, 'maintenance', logger, async () => {
    await makeLogPartitions(db);
    await dropExpiredDays(db, config.LOG_RETENTION, logger);
    await dropOldHours(db, config.LOG_RETENTION);
    await dropExpiredKeys(db);
  });
  const erasure = every(erasureIntervalMs, 'erasure', logger, async () => {
    const deps = { db, times, metrics, logger, retentionMs: config.SHIPMENT_RETENTION };
    return (await eraseExpired(deps)) ? erasurePauseMs : undefined;
  });
  const removal = every(
    times.sweepRestEveryMs,
    'removal',
    logger,
    createRemoval({ db, logger, metrics, quietMs: times.removedQuietMs }),
  );

  const purge = createPurge(db, logger);
  const purges = every(purgeIntervalMs, 'purge webhooks', logger, async () =>
    (await purge()) ? purgeStepMs : undefined,
  );

  const fold = createFold(db);
  const folding = every(times.foldEveryMs, 'fold counts', logger, async () =>
    (await fold()) ? foldPauseMs : undefined,
  );

  let isLater = false;
  const sealing = every(maintenanceIntervalMs, 'sealing', logger, async () => {
    if (!isLater) {
      isLater = true;
      return times.sealAfterMs;
    }
    await resealWebhooks({ ...resources, db }, sealedForm);
    return undefined;
  });

  let draining: Promise<void> | undefined;
  const drain = async () => {
    const drained = Promise.all([dispatcher.drain(), redeliverer.drain()]);
    await Promise.all([
      orders.stop(),
      deliveries.stop(),
      rest.stop(),
      replays.stop(),
      simulations?.stop(),
      canaries.stop(),
      gauges.stop(),
      maintenance.stop(),
      purges.stop(),
      folding.stop(),
      erasure.stop(),
      removal.stop(),
      sealing.stop(),
      ...consumers.map((consumer) => consumer.close()),
    ]);
    await drained;
  };

  return {
    handOver: dispatcher,
    pressure: dispatcher.pressure,
    create: createInProcess(creation),
    simulate: () => simulations?.wake(),
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
