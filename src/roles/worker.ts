import { setTimeout as sleep } from 'node:timers/promises';
import { startBackground } from './background.js';
import { createRedeliverer } from '../engine/attempt/redelivery.js';
import { byHandLeaseMs } from '../engine/attempt/by-hand.js';
import { createDispatcher } from '../engine/schedule/dispatcher.js';
import { dueJob, dueOf, queueNames } from '../engine/schedule/notify.js';
import type { Resources } from './resources.js';
import { createInProcess, createShipments, creationQueueName } from '../shipments/create.js';
import { version } from '../platform/version.js';

export type WorkerRole = ReturnType<typeof startWorker>;

const creationConcurrency = 4;
const deliveryConcurrency = 8;
const flowMaxAgeMs = 30_000;
/** Less than a health check may take. */
const firstJobsMs = 1_000;

/** Creation, fan-out, delivery and sweeping. */
export function startWorker(resources: Resources) {
  const {
    config,
    workerDb: db,
    logger,
    metrics,
    engine,
    producers,
    notify: notifyOthers,
    durations,
  } = resources;
  const sending = {
    db,
    send: resources.sender.send,
    targets: resources.targets,
    starts: resources.starts,
    logger,
    metrics,
    durations,
    logAttempts: config.LOG_ATTEMPTS,
    tracing: resources.tracing,
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
    onLeft: notifyOthers,
  });
  const { notify } = dispatcher;
  const redeliverer = createRedeliverer({
    ...sending,
    notify,
    terminalStates: resources.terminalStates,
    leaseMs: byHandLeaseMs(config.DELIVERY_TIMEOUT, durations),
  });
  const creation = {
    ...resources.recording(db, dispatcher),
    initialState: resources.catalogue.initial,
    logger,
  };
  const startedAt = Date.now();
  const lastJobAt = new Map<string, number>();
  let firstJobsCame!: () => void;
  const firstJobs = new Promise<void>((resolve) => (firstJobsCame = resolve));
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
      if (lastJobAt.size === producers.size) firstJobsCame();
      if (job.name !== 'canary') await handle(job);
    });
  const consumers = [
    consume(creationQueueName, creationConcurrency, (job) => createShipments(creation, job.ids)),
    ...queueNames(config.DELIVERY_SHARDS).map((name) =>
      consume(name, deliveryConcurrency, async (job) => {
        if (job.name === 'redeliver') await redeliverer.handle(job.ids);
        else if (job.name === dueJob) notify(dueOf(job.ids));
      }),
    ),
  ];

  const background = startBackground({ resources, dispatcher, redeliverer, creation });

  let draining: Promise<void> | undefined;
  const drain = async () => {
    const drained = Promise.all([dispatcher.drain(), redeliverer.drain()]);
    await Promise.all([background.stop(), ...consumers.map((consumer) => consumer.close())]);
    await drained;
    await Promise.all([dispatcher.drain(), redeliverer.drain()]); // claimed meanwhile by a task or a job
  };

  return {
    /** This process sends what it records. */
    handOver: dispatcher,
    pressure: dispatcher.pressure,
    heldBack: dispatcher.heldBack,
    create: createInProcess(creation),
    simulate: () => background.wake('simulations'),
    /**
     * Rejects unless a job, canaries included, arrived from every queue in the last 30 s. At the start it waits for the
     * first ones for a second, so that a worker is not ready before jobs flow, and does not complain of it at once.
     */
    checkFlow: async () => {
      await Promise.race([firstJobs, sleep(firstJobsMs, undefined, { ref: false })]);
      const stale = [...producers.keys()].filter(
        (name) => Date.now() - (lastJobAt.get(name) ?? 0) > flowMaxAgeMs,
      );
      if (stale.length === 0) return;
      const since = stale.some((name) => lastJobAt.has(name)) ? 'in the last 30 s' : 'since the start';
      throw new Error(`no job, not even a canary, arrived from ${stale.join(', ')} ${since}`);
    },
    /** Begins no new work; resolves when the current attempts are recorded. */
    drain: () => (draining ??= drain()),
  };
}
