import { dropOldAudit } from '../accounts/audit.js';
import { forgetSessions } from '../accounts/login/sessions.js';
import { readConcurrencyLimits } from '../accounts/shippers.js';
import { forgetSupportLinks } from '../accounts/support/store.js';
import { forgetEndedSessions } from '../accounts/users.js';
import { createParking } from '../catch-up/replay/parked.js';
import { advanceReplays } from '../catch-up/replay/replay.js';
import { dropExpiredDays, makeLogPartitions, createPurge } from '../history/retention/retention.js';
import { createFold, lockCounts, dropOldHours } from '../history/stats/store.js';
import { readFeedExtent, recordNothing } from '../feed/extent-store.js';
import {
  deleteOldDestinations,
  deleteOldExternalIds,
  owedToRemove,
  takeOut,
  type Dispatch,
} from '../engine/engine.js';
import {
  anyWork,
  createBacklogGauges,
  findWork,
  oldestSnapshotReader,
  refreshGauges,
  type Work,
} from '../observe/backlog.js';
import { createRemoval } from '../accounts/removal/removal.js';
import type { OwnersOfRows } from '../accounts/removal/store.js';
import { composePasswordMail } from '../accounts/login/password-link.js';
import { createMailing, type ComposeMail } from '../mail/send.js';
import { deleteOldMails, type MailKind } from '../mail/store.js';
import type { Database } from '../platform/database/postgres.js';
import { every, sparing, whenScraped } from '../platform/tasks.js';
import type { Producer } from '../platform/queue/engine.js';
import type { Resources } from './resources.js';
import { createOrderSweep, createShipments, type CreationDependencies } from '../shipments/create.js';
import { createRetention } from '../shipments/erasure.js';
import { advanceSimulations, type AdvanceDependencies } from '../shipments/simulation/advance.js';
import { deleteExpiredIdempotencyKeys } from '../shipments/store.js';
import { composeConfirmation, forgetUnconfirmed } from '../webhooks/mails/addresses.js';
import { composeNotice, composeSummary } from '../webhooks/mails/content.js';
import { mailNotices } from '../webhooks/mails/owed.js';

export interface BackgroundDependencies {
  resources: Resources;
  dispatch: Dispatch;
  creation: CreationDependencies & AdvanceDependencies;
}

/**
 * `run` may resolve with the milliseconds until its next run, which is after `intervalMs` otherwise. The task rests
 * while there is none of the work in `does`.
 */
type Task = [name: string, intervalMs: number, run: () => Promise<number | void>, does?: Work[]];

/** The sweep of deliveries corrects the times of all these if PostgreSQL's clock was set back. */
const correctedInSweeps: Work[] = ['owed', 'circuits', 'redeliveries', 'replays', 'simulations'];

const staggerMs = 20;
const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;
const sharePacesEveryMs = 10 * secondMs;

/** The removal of shippers gets these from here: it belongs to accounts, which imports no feature above it. */
export const owners: OwnersOfRows = {
  owedPage: owedToRemove({ shipperId: '$1', after: '$2::uuid', limit: '$3' }),
  takeOutOwed: takeOut('page'),
  lockCounts,
  recordNothing,
};

/** Every role shows the gauges of the backlog; a worker also shows those that are the same in every process. */
export function startGauges(resources: Resources, isWorker: boolean): { stop(): Promise<unknown> } {
  const { config, workerDb: db, metrics, producers, engine } = resources;
  const { gaugesEveryMs } = resources.durations;
  const heldBack = engine.dispatch?.figures.heldBack;
  const { refresh } = createBacklogGauges({
    db,
    metrics,
    concurrency: config.DELIVERY_CONCURRENCY,
    heldBack,
    mails: config.SMTP_URL !== undefined,
  });
  const shared = { db, producers, metrics, readOldestSnapshot: oldestSnapshotReader(db) };
  const readings = [
    whenScraped(gaugesEveryMs, 'backlog gauges', resources, refresh),
    ...(isWorker ? [whenScraped(gaugesEveryMs, 'gauges', resources, () => refreshGauges(shared))] : []),
  ];
  return { stop: () => Promise.all(readings.map((reading) => reading.stop())) };
}

/**
 * Starts the tasks one after the other: all at once would open a database connection each. One statement looks for the
 * work of all of them; a task without work runs once a minute, and at once when there is some.
 */
export function startBackground(deps: BackgroundDependencies): {
  wake(name: string): void;
  stop(): Promise<unknown>;
} {
  const { workerDb: db, durations } = deps.resources;
  const { sweepEveryMs, sweepIdleMs } = durations;
  let work = anyWork;
  const has = (does: Work[]) => does.some((one) => work.has(one));
  const mailing = mailingOf(deps.resources);
  const mails: Task[] = mailing
    ? [
        ['notices to mail', sweepEveryMs, () => mailNotices(db, durations.summary), ['notices']],
        ['mails', sweepEveryMs, mailing.run, ['mails']],
      ]
    : [];
  const tasks = [...backgroundTasks(deps), ...mails].map(([name, intervalMs, run, does], index) => {
    const runOrRest = async () => {
      const nextMs = await run();
      return !does || has(does) || (nextMs ?? intervalMs) < intervalMs ? nextMs : sweepIdleMs;
    };
    return { name, does, ...every(intervalMs, name, deps.resources, runOrRest, index * staggerMs) };
  });
  const found = (now: ReadonlySet<Work>) => {
    const resting = tasks.filter(({ does }) => does && !has(does));
    work = now;
    for (const task of resting) if (has(task.does!)) task.wake();
  };
  const look = () =>
    findWork(db).then(found, (error: unknown) => {
      found(anyWork);
      throw error;
    });
  // Under an old snapshot even an empty table takes long.
  const lookSparingly = sparing(sweepEveryMs, look);
  const looking = every(
    sweepEveryMs,
    'look for work',
    deps.resources,
    lookSparingly,
    tasks.length * staggerMs,
  );
  return {
    wake: (name) => tasks.find((task) => task.name === name)?.wake(),
    stop: () => {
      mailing?.stop();
      return Promise.all([looking, ...tasks].map((task) => task.stop()));
    },
  };
}

function mailingOf({ config, workerDb: db, logger, metrics, durations, publicUrl }: Resources) {
  const { SMTP_URL: server, MAIL_FROM: from, CELL: cell } = config;
  if (!server || !from) return undefined;
  const links = { publicUrl, cell };
  const password = composePasswordMail(links);
  const composing: Record<MailKind, ComposeMail> = {
    PASSWORD_LINK: password,
    WELCOME: password,
    CONFIRM_ADDRESS: composeConfirmation(links),
    NOTICE: composeNotice(publicUrl),
    SUMMARY: composeSummary(publicUrl),
  };
  const compose: ComposeMail = (tx, mail) => composing[mail.kind](tx, mail);
  return createMailing({ db, logger, metrics, server, from, firstRetryMs: durations.mailRetryMs, compose });
}

function backgroundTasks({ resources, dispatch, creation }: BackgroundDependencies): Task[] {
  const { config, workerDb: db, logger, metrics, producers, durations, terminalStates } = resources;
  const { sweepEveryMs, sweepRestEveryMs, replayEveryMs } = durations;
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
    inSequence(dispatch.sweepRedeliveries, dispatch.judgeFailing, dispatch.tellExhausted);
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
      () => forgetSessions(db),
      () => forgetSupportLinks(db),
      () => deleteOldDestinations(db),
      () => deleteOldMails(db),
      () => forgetUnconfirmed(db),
    );
  const simulations: Task[] = config.SIMULATE
    ? [['simulations', sweepEveryMs, () => advanceSimulations(creation), ['simulations']]]
    : [];

  const limitShippers = async () => dispatch.limitShippers(await readConcurrencyLimits(db));
  return [
    ['share paces', sharePacesEveryMs, dispatch.sharePaces],
    ['sweep deliveries', sweepEveryMs, dispatch.sweep, correctedInSweeps],
    ['limits of shippers', sweepRestEveryMs, limitShippers],
    ['sweep orders', sweepRestEveryMs, sparing(sweepRestEveryMs, sweepOrders), ['orders']],
    ['lapsed claims', sweepEveryMs, dispatch.takeUpLapsed, ['owed']],
    [
      'sweep the rest',
      sweepRestEveryMs,
      sparing(sweepRestEveryMs, sweepRest),
      ['redeliveries', 'circuits', 'exhausted'],
    ],
    ['replays', sweepEveryMs, sooner(replayEveryMs, () => advanceReplays(replaying)), ['replays']],
    [
      'parking',
      replayEveryMs,
      createParking(common, { ...durations, parkedAfter: config.PARKED_AFTER }),
      ['parking'],
    ],
    ...simulations,
    ['canary', durations.canaryEveryMs / producers.size, createCanary([...producers.values()])],
    ['maintenance', hourMs, maintain],
    ['audit retention', hourMs, sooner(500, () => dropOldAudit(db, config.AUDIT_RETENTION))],
    ['erasure', 10 * minuteMs, sooner(500, eraseOld)],
    [
      'removal',
      sweepRestEveryMs,
      createRemoval({ ...common, quietMs: durations.removedQuietMs, owners }),
      ['removals'],
    ],
    ['purge webhooks', 10 * minuteMs, sooner(2_000, createPurge(db, logger))],
    ['fold counts', durations.foldEveryMs, sooner(100, createFold(db, logger)), ['counts']],
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
