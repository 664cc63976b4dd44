import { dropOldAudit } from './accounts/audit/audit-store.js';
import { createDispatcher } from './deliveries/dispatch/dispatcher.js';
import { dueJob, dueOf, queueNames } from './deliveries/dispatch/notify.js';
import { makeLogPartitions } from './deliveries/retention/partitions.js';
import { createPurge } from './deliveries/retention/purge.js';
import { dropExpiredDays } from './deliveries/retention/retention.js';
import { createFold } from './deliveries/stats/fold.js';
import { dropOldHours } from './deliveries/stats/stats.js';
import { disableHopeless } from './deliveries/circuit/transitions.js';
import { createRedeliverer } from './deliveries/on-demand/redelivery.js';
import { createParking } from './deliveries/replay/parked.js';
import { advanceReplays } from './deliveries/replay/replay.js';
import { byHandLeaseMs } from './deliveries/on-demand/send-by-hand.js';
import type { HandOver } from './deliveries/outbox/hand-over.js';
import { createSweeper } from './deliveries/recovery/sweeper.js';
import { refreshGauges } from './operator/gauges.js';
import { createRemoval } from './operator/removal/removal.js';
import type { Database } from './platform/database/postgres.js';
import { every, sparing } from './platform/every.js';
import { createInProcess, createShipments, createOrderSweep } from './shipments/create.js';
import { createRetention } from './shipments/erasure/retention.js';
import { advanceSimulations } from './shipments/simulation/advance.js';
import { lookAtFeed } from './events/feed/look-store.js';
import { dropOldExternalIds, type ShipmentHead } from './events/store.js';
import { dropExpiredKeys } from './shipments/store.js';
import { creationQueueName } from './shipments/queue.js';
import type { Producer } from './platform/queue/engine.js';
import type { Resources } from './resources.js';
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

/** Between the beginnings of background tasks. */
const apartMs = 20;
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
const auditPauseMs = 500;

/** Creation, fan-out, delivery and sweeping (contract, section 1: role `worker`). */
export function startWorker(resources: Resources): WorkerRole {
  const { config, workerDb: db, logger, metrics, engine, producers, notify: notifyOthers, times } = resources;
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
    onLeft: notifyOthers,
  });
  const { notify } = dispatcher;
  const redeliverer = createRedeliverer({
    ...sending,
    notify,
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
        else if (job.name === dueJob) notify(dueOf(job.ids));
      }),
    ),
  ];

  const tasks: ReturnType<typeof every>[] = [];
  /** Unless told when, a task begins after those before it: all at once would open a connection each. */
  const background = (
    intervalMs: number,
    name: string,
    task: () => Promise<number | void>,
    firstAfterMs = tasks.length * apartMs,
  ) => {
    const begun = every(intervalMs, name, resources, task, firstAfterMs);
    tasks.push(begun);
    return begun;
  };

  // Under an old snapshot what is long gone is read again and again: then these come more rarely.
  background(
    times.sweepRestEveryMs,
    'sweep orders',
    sparing(
      times.sweepRestEveryMs,
      createOrderSweep({ db, create: (ids) => createShipments(creation, ids), logger, metrics }),
    ),
  );
  const sweeper = createSweeper({
    ...sending,
    notify,
    accept: dispatcher.accept,
    deliveryTimeoutMs: config.DELIVERY_TIMEOUT,
    terminalStates: resources.terminalStates,
  });
  background(times.sweepEveryMs, 'sweep deliveries', sweeper.walk, 0);
  background(times.sweepEveryMs, 'lapsed claims', sweeper.takeUpLapsed);
  background(
    times.sweepRestEveryMs,
    'sweep the rest',
    sparing(times.sweepRestEveryMs, () =>
      eachOf(redeliverer.sweep, () => disableHopeless({ ...sending, notify }, daysWithoutSuccess)),
    ),
  );
  background(times.sweepEveryMs, 'replays', async () => {
    const deps = {
      db,
      logger,
      notify,
      retentionMs: config.LOG_RETENTION,
      orderHoldMs: config.ORDER_HOLD,
      terminalStates: resources.terminalStates,
      horizon: async (tx: Database) => (await lookAtFeed(tx)).horizon,
      ...times,
    };
    return (await advanceReplays(deps)) ? times.replayEveryMs : undefined;
  });
  background(
    times.sweepEveryMs,
    'parking',
    createParking({ db, logger }, { parkedAfter: config.PARKED_AFTER, ...times }),
  );
  const simulations = config.SIMULATE
    ? background(times.sweepEveryMs, 'simulations', () => advanceSimulations(creation))
    : null;
  // The first time every queue gets a canary, afterwards one queue at a time: a job wakes everyone who waits for its
  // queue, and such a burst would delay deliveries.
  const toFeed = [...producers.values()];
  const canary = (producer: Producer) => producer.add([{ name: 'canary', id: `canary-${Date.now()}` }]);
  let isFirst = true;
  background(times.canaryEveryMs / toFeed.length, 'canary', async () => {
    toFeed.push(toFeed.shift()!);
    await Promise.all((isFirst ? toFeed : toFeed.slice(-1)).map(canary));
    isFirst = false;
  });
  background(
    gaugeIntervalMs,
    'gauges',
    sparing(gaugeIntervalMs, () => refreshGauges({ db, producers, metrics })),
  );
  background(maintenanceIntervalMs, 'maintenance', () =>
    eachOf(
      () => makeLogPartitions(db),
      () => dropExpiredDays(db, config.LOG_RETENTION, logger),
      () => dropOldHours(db, config.LOG_RETENTION),
      () => dropOldExternalIds(db, config.LOG_RETENTION),
      () => dropExpiredKeys(db),
    ),
  );
  background(maintenanceIntervalMs, 'audit retention', async () =>
    (await dropOldAudit(db, config.AUDIT_RETENTION)) ? auditPauseMs : undefined,
  );
  const retention = createRetention({ db, times, metrics, logger, retentionMs: config.SHIPMENT_RETENTION });
  background(erasureIntervalMs, 'erasure', async () => ((await retention()) ? erasurePauseMs : undefined));
  background(
    times.sweepRestEveryMs,
    'removal',
    createRemoval({ db, logger, metrics, quietMs: times.removedQuietMs }),
  );

  const purge = createPurge(db, logger);
  background(purgeIntervalMs, 'purge webhooks', async () => ((await purge()) ? purgeStepMs : undefined));

  const fold = createFold(db, logger);
  background(times.foldEveryMs, 'fold counts', async () => ((await fold()) ? foldPauseMs : undefined));

  let draining: Promise<void> | undefined;
  const drain = async () => {
    const drained = Promise.all([dispatcher.drain(), redeliverer.drain()]);
    await Promise.all([
      ...tasks.map((task) => task.stop()),
      ...consumers.map((consumer) => consumer.close()),
    ]);
    await drained;
    await Promise.all([dispatcher.drain(), redeliverer.drain()]); // what a task or a job had claimed meanwhile
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

/** Runs them one after the other, each whether or not those before it have failed. Rejects with the first failure. */
async function eachOf(...tasks: (() => Promise<unknown>)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const task of tasks) await task().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}
