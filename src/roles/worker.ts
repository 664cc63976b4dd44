import { setTimeout as sleep } from 'node:timers/promises';
import { startBackground } from './background.js';
import { describeError } from '../platform/errors.js';
import { queueNames, type Dispatch, type ShipmentHead } from '../engine/engine.js';
import { rehearse } from './rehearsal.js';
import type { Resources } from './resources.js';
import { createInProcess, createShipments, creationQueueName } from '../shipments/create.js';

export interface WorkerRole {
  /** Resolves when that is done or left to the sweep. */
  create(order: ShipmentHead): Promise<void>;
  simulate(): void;
  /**
   * Rejects unless a job, canaries included, arrived from every queue in the last 30 s. At the start it waits for the
   * first ones for a second, so that a worker is not ready before jobs flow, and does not complain of it at once.
   */
  checkFlow(): Promise<void>;
  /** Rejects unless an attempt was made in the last 30 s, or an order was seen to become one without being sent. */
  checkOrders(): Promise<void>;
  /** Begins no new work; resolves when the current attempts are recorded. */
  drain(): Promise<void>;
}

const creationConcurrency = 4;
const deliveryConcurrency = 8;
const flowMaxAgeMs = 30_000;
/** Less than a health check may take. */
const firstJobsMs = 1_000;

/** Creation, fan-out, delivery and sweeping. */
export function startWorker(resources: Resources, dispatch: Dispatch): WorkerRole {
  const { config, workerDb: db, logger, metrics, engine, queue, producers } = resources;
  const creation = { ...engine.recording(db), initialState: resources.catalogue.initial, logger };
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
    queue.consume(name, concurrency, async (job) => {
      lastJobAt.set(name, Date.now());
      if (lastJobAt.size === producers.size) firstJobsCame();
      if (job.name !== 'canary') await handle(job);
    });
  const consumers = [
    consume(creationQueueName, creationConcurrency, (job) => createShipments(creation, job.ids)),
    ...queueNames(config.DELIVERY_SHARDS).map((name) => consume(name, deliveryConcurrency, dispatch.take)),
  ];

  let rehearsedAt = -Infinity;
  let rehearsing: Promise<void> | undefined;

  const background = startBackground({ resources, dispatch, creation });

  let draining: Promise<void> | undefined;
  const drain = async () => {
    const drained = dispatch.drain();
    await Promise.all([background.stop(), ...consumers.map((consumer) => consumer.close())]);
    await drained;
    await dispatch.drain(); // claimed meanwhile by a task or a job
  };

  return {
    create: createInProcess(creation),
    simulate: () => background.wake('simulations'),
    checkFlow: async () => {
      await Promise.race([firstJobs, sleep(firstJobsMs, undefined, { ref: false })]);
      const stale = [...producers.keys()].filter(
        (name) => Date.now() - (lastJobAt.get(name) ?? 0) > flowMaxAgeMs,
      );
      if (stale.length === 0) return;
      const since = stale.some((name) => lastJobAt.has(name)) ? 'in the last 30 s' : 'since the start';
      const reason = consumers.map((consumer) => consumer.lastError()).find(Boolean);
      const because = reason ? `: ${describeError(reason)}` : '';
      throw new Error(`no job, not even a canary, arrived from ${stale.join(', ')} ${since}${because}`);
    },
    checkOrders: async () => {
      const provedAt = Math.max(rehearsedAt, dispatch.figures.lastEndAtMs());
      if (performance.now() - provedAt < flowMaxAgeMs) return;
      rehearsing ??= rehearse({ ...resources, db, initialState: resources.catalogue.initial })
        .then(() => void (rehearsedAt = performance.now()))
        .finally(() => (rehearsing = undefined));
      await rehearsing;
    },
    drain: () => (draining ??= drain()),
  };
}
