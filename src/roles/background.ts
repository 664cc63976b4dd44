import { dropOldAudit } from '../accounts/audit/audit.js';
import { forgetEndedSessions } from '../accounts/users.js';
import { createParking } from '../catch-up/replay/parked.js';
import { advanceReplays } from '../catch-up/replay/replay.js';
import { dropExpiredDays, makeLogPartitions } from '../history/retention/log-days.js';
import { createPurge } from '../history/retention/purge.js';
import { createFold, lockCounts } from '../history/stats/fold.js';
import { dropOldHours } from '../history/stats/store.js';
import { readFeedExtent, recordNothing } from '../feed/extent-store.js';
import { deleteOldExternalIds, owedToRemove, takeOut, type Dispatch } from '../engine/engine.js';
import { createBacklogGauges, refreshGauges } from '../observe/backlog.js';
import { createRemoval } from '../accounts/removal/removal.js';
import type { OwnersOfRows } from '../accounts/removal/store.js';
import type { Database } from '../platform/database/postgres.js';
import { every, pauseAfter, sparing } from '../platform/every.js';
import type { Producer } from '../platform/queue/engine.js';
import type { Resources } from './resources.js';
import { createOrderSweep, createShipments, type CreationDependencies } from '../shipments/create.js';
import { createRetention } from '../shipments/erasure/erase.js';
import { advanceSimulations, type AdvanceDependencies } from '../shipments/simulation/advance.js';
import { deleteExpiredIdempotencyKeys } from '../shipments/store.js';

export interface BackgroundDependencies {
  resources: Resources;
  dispatch: Dispatch;
  creation: CreationDependencies & AdvanceDependencies;
}

/** `run` may resolve with the milliseconds until its next run; without them the next run follows `intervalMs`. */
type Task = [name: string, intervalMs: number, run: () => Promise<number | void>];

const staggerMs = 20;
const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;
const daysWithoutSuccess = 5;

/** The removal of shippers gets these from here: it belongs to accounts, which imports no feature above it. */
export const owners: OwnersOfRows = {
  owedPage: owedToRemove({ shipperId: '$1', after: '$2::uuid', limit: '$3' }),
  takeOutOwed: takeOut('page'),
  lockCounts,
  recordNothing,
};

/** The gauges are forgotten after a minute. */
const maxIntervalsOfBacklog = 3;

/** Every role has it. The statement takes at most a tenth of the time, as long as that is often enough. */
export function startBacklogGauges(resources: Resources): { stop(): Promise<unknown> } {
  const { config, workerDb: db, metrics, durations, engine } = resources;
  const { gaugesEveryMs } = durations;
  const heldBack = engine.dispatch?.figures.heldBack;
  const gauges = createBacklogGauges({ db, metrics, concurrency: config.DELIVERY_CONCURRENCY, heldBack });
  return every(gaugesEveryMs, 'backlog gauges', resources, async () => {
    const startedAtMs = performance.now();
    await gauges.refresh();
    return pauseAfter(performance.now() - startedAtMs, gaugesEveryMs, maxIntervalsOfBacklog * gaugesEveryMs);
  });
}

/** Starts the tasks one after the other: all at once would open a database connection each. */
export function startBackground(deps: BackgroundDependencies): {
  wake(name: string): void;
  stop(): Promise<unknown>;
} {
  const tasks = new Map(
    backgroundTasks(deps).map(([name, intervalMs, run], index) => [
      name,
      every(intervalMs, name, deps.resources, run, index * staggerMs),
    ]),
  );
  return {
    wake: (name) => tasks.get(name)?.wake(),
    stop: () => Promise.all([...tasks.values()].map((task) => task.stop())),
  };
}

function backgroundTasks({ resources, dispatch, creation }: BackgroundDependencies): Task[] {
  const { config, workerDb: db, logger, metrics, producers, durations, terminalStates } = resources;
  const { sweepEveryMs, sweepRestEveryMs, gaugesEveryMs } = durations;
  const retentionMs = config.LOG_RETENTION;
  const common = {
    db,
    logger,
    metrics,
    durations,
    notify: resources.engine.wake,
    orderHoldMs: config.ORDER_HOLD,
  };
  const create = (shipmentIds: string[]) => createShipments(creation, shipmentIds);
  const sweepOrders = createOrderSweep({ db, create, logger, metrics });
  const sweepRest = () =>
    inSequence(dispatch.sweepRedeliveries, () => dispatch.disableFailing(daysWithoutSuccess));
  const horizon = async (tx: Database) => (await readFeedExtent(tx)).horizon;
  const replaying = { ...common, ...durations, retentionMs, terminalStates, horizon };
  const eraseOld = createRetention({
    db,
    durations,
    metrics,
    logger,
    retentionMs: config.SHIPMENT_RETENTION,
  });
  const maintain = () =>
    inSequence(
      () => makeLogPartitions(db),
      () => dropExpiredDays(db, retentionMs, logger),
      () => dropOldHours(db, retentionMs),
      () => deleteOldExternalIds(db, retentionMs),
      () => deleteExpiredIdempotencyKeys(db),
      () => forgetEndedSessions(db),
    );
  const simulations: Task[] = config.SIMULATE
    ? [['simulations', sweepEveryMs, () => advanceSimulations(creation)]]
    : [];

  return [
    ['sweep deliveries', sweepEveryMs, dispatch.sweep],
    ['sweep orders', sweepRestEveryMs, sparing(sweepRestEveryMs, sweepOrders)],
    ['lapsed claims', sweepEveryMs, dispatch.takeUpLapsed],
    ['sweep the rest', sweepRestEveryMs, sparing(sweepRestEveryMs, sweepRest)],
    ['replays', sweepEveryMs, sooner(durations.replayEveryMs, () => advanceReplays(replaying))],
    ['parking', sweepEveryMs, createParking(common, { ...durations, parkedAfter: config.PARKED_AFTER })],
    ...simulations,
    ['canary', durations.canaryEveryMs / producers.size, createCanary([...producers.values()])],
    ['gauges', gaugesEveryMs, sparing(gaugesEveryMs, () => refreshGauges({ db, producers, metrics }))],
    ['maintenance', hourMs, maintain],
    ['audit retention', hourMs, sooner(500, () => dropOldAudit(db, config.AUDIT_RETENTION))],
    ['erasure', 10 * minuteMs, sooner(500, eraseOld)],
    ['removal', sweepRestEveryMs, createRemoval({ ...common, quietMs: durations.removedQuietMs, owners })],
    ['purge webhooks', 10 * minuteMs, sooner(2_000, createPurge(db, logger))],
    ['fold counts', durations.foldEveryMs, sooner(100, createFold(db, logger))],
  ];
}

const sooner = (pauseMs: number, task: () => Promise<boolean>) => async (): Promise<number | undefined> =>
  (await task()) ? pauseMs : undefined;

/** Every queue at first, then one in rotation: a job wakes every consumer of its queue, and bursts delay deliveries. */
function createCanary(producers: Producer[]): () => Promise<void> {
  const send = (producer: Producer) => producer.add([{ name: 'canary', id: `canary-${Date.now()}` }]);
  let isFirst = true;
  return async () => {
    producers.push(producers.shift()!);
    await Promise.all((isFirst ? producers : producers.slice(-1)).map(send));
    isFirst = false;
  };
}

async function inSequence(...tasks: (() => Promise<unknown>)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const task of tasks) await task().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}
