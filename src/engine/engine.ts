import type { Database, Pool } from '../platform/database/postgres.js';
import type { Durations } from '../platform/durations.js';
import type { Producer } from '../platform/queue/engine.js';
import type { Logger } from '../platform/telemetry/logger.js';
import type { Metrics } from '../platform/telemetry/metrics.js';
import type { Tracing } from '../platform/telemetry/tracing.js';
import { version } from '../platform/version.js';
import { countAttemptsFromZero } from './attempt/attempt.js';
import { byHandLeaseMs } from './attempt/by-hand.js';
import { createRedeliverer, createRedeliveryQueue, redeliverJob } from './attempt/redelivery.js';
import { untilNoSendCanStart, createStarts } from './attempt/starts.js';
import { createTargets } from './send/targets.js';
import { sendTest, type Sample } from './attempt/test.js';
import { disableFailing, type Disabled } from './circuit/transitions.js';
import { reorderDeliveries } from './outbox/turns.js';
import type { HeldBack } from './outbox/sendable.js';
import { noRoom, type Claim, type Due, type HandOver } from './outbox/types.js';
import { recordEvents, type NewEvent, type RecordDependencies, type RecordResult } from './record/record.js';
import { createDispatcher, type Dispatcher, type DispatcherOptions } from './attempt/dispatcher.js';
import { createNotify, dueJob, dueOf } from './schedule/notify.js';
import type { Destinations } from './send/destination.js';
import type { LookupOptions } from './send/dns/lookups.js';
import type { Sealer } from './send/sealing.js';
import { createSending } from './send/threads.js';
import { cancelBacklog, createSweeper } from './sweep/sweeper.js';

export { forgetCircuit, forgetCircuits, notices } from './circuit/store.js';
export { owedToRemove } from './outbox/cancel.js';
export { takeOut } from './outbox/sql.js';
export { dueSinceUnknown, type Due } from './outbox/types.js';
export type { NewEvent, RecordDependencies, RecordResult } from './record/record.js';
export { deleteOldExternalIds, type ShipmentHead } from './record/store.js';
export { queueNames } from './schedule/notify.js';
export { policyOf, type DestinationPolicy, type Destinations } from './send/destination.js';
export { createSealer, createSecretBox, type Sealer, type SecretBox } from './send/sealing.js';

export interface EngineOptions {
  /** Null in a process that sends nothing but tests; else how many attempts it makes at once. */
  concurrency: number | null;
  db: Pool;
  /** Used for tests of webhooks, in short statements only. */
  apiDb: Database;
  /** Makes claims and leases: PostgreSQL may lose one in a crash, which has the effect of an expired lease. */
  leaseDb: Database;
  /** Producers of the queues of deliveries. */
  producers: Producer[];
  logger: Logger;
  metrics: Metrics;
  tracing: Tracing;
  durations: Durations;
  sealer: Sealer;
  destinations: Destinations;
  dns: LookupOptions;
  egressProxy: string | undefined;
  timeoutMs: number;
  /** 0: it sends in the process. */
  sendThreads: number;
  retryScheduleMs: readonly number[];
  orderHoldMs: number;
  logAttempts: DispatcherOptions['logAttempts'];
  states: Pick<RecordDependencies, 'allows' | 'next' | 'terminalStates'>;
  /** Called after each commit with the shippers of the events. */
  onRecorded(shipperIds: Set<string>): void;
  /** Called in the transaction that disables the webhooks. */
  onDisabled(tx: Database, webhooks: Disabled[]): Promise<void>;
}

/** The door: everything between a state event and the line in the log. The rest of the service knows only this. */
export interface Engine {
  /** Gives the dependencies to a caller that records with a connection of its own. */
  recording(db: Database): RecordDependencies;
  record(db: Database, events: NewEvent[]): Promise<RecordResult[]>;
  /** These webhooks have something due, in this process or another. */
  wake(due: Due[]): void;
  /** Call it after the commit that stopped webhooks. Resolves when none of their attempts can start any more. */
  stop(): Promise<void>;
  /** Cancels what a deleted webhook is owed, as much as a request may; the sweep does the rest. */
  cancel(db: Database, webhookId: string): Promise<void>;
  /** After `ordering` has changed. `whileStopping` runs what waits for `stop`. */
  reorder(
    db: Database,
    webhookId: string,
    whileStopping: (wait: () => Promise<void>) => Promise<void>,
  ): Promise<void>;
  /** Through the queue: a worker makes one attempt outside the schedule. */
  redeliver(deliveryId: string): void;
  /** One attempt from this process. Resolves with the claim it settled. */
  test(shipperId: string, webhookId: string, sample: Sample): Promise<Claim>;
  /** Null in a process that sends nothing but tests. */
  dispatch: Dispatch | null;
  close(): void;
}

/** The part that only a process with attempts of its own has. */
export interface Dispatch {
  /** A job of a queue of deliveries. */
  take(job: { name: string; ids: string[] }): Promise<void>;
  /** Each call is one step and returns the milliseconds until the next one. */
  sweep(): Promise<number>;
  takeUpLapsed(): Promise<number>;
  sweepRedeliveries(): Promise<void>;
  disableFailing(days: number): Promise<void>;
  figures: {
    /** This process can soon start what one more order of this shipper will owe. */
    hasRoomForOrder: Dispatcher['hasRoomForOrder'];
    /** Claims that wait for this process, by webhook. */
    heldBack(): Record<string, HeldBack>;
  };
  /** Resolves when each attempt under way is settled. It may be called again for what was claimed meanwhile. */
  drain(): Promise<void>;
}

export function createEngine(options: EngineOptions): Engine {
  const { leaseDb, logger, metrics, tracing, durations, orderHoldMs, concurrency, timeoutMs } = options;
  const { terminalStates } = options.states;
  countAttemptsFromZero(metrics);
  const { destinations, dns, egressProxy } = options;
  const sending = createSending({
    settings: { destinations, dns, egressProxy, timeoutMs, version },
    threads: options.sendThreads,
    logger,
    metrics,
  });
  const wakeOthers = createNotify(options.producers, logger);
  const attempting = {
    ...options,
    terminalStates,
    sending,
    targets: createTargets(leaseDb, options.sealer),
    starts: createStarts(leaseDb, durations),
  };
  const dispatcher =
    concurrency === null ? null : createDispatcher({ ...attempting, concurrency, onLeft: wakeOthers });
  const handOver: HandOver = dispatcher ?? {
    reserve: () => noRoom,
    recorded: (_room, _claims, left) => wakeOthers(left),
    notify: wakeOthers,
  };
  const wake = handOver.notify;
  const byHand = { ...attempting, notify: wake, leaseMs: byHandLeaseMs(timeoutMs, durations) };
  const stop = () => untilNoSendCanStart(durations);
  const recording = (own: Database): RecordDependencies => ({
    ...options.states,
    db: own,
    leaseMs: durations.leaseMs,
    orderHoldMs,
    handOver,
    onRecorded: options.onRecorded,
    tracing,
    metrics,
  });

  const startDispatch = (sends: NonNullable<typeof dispatcher>): Dispatch => {
    const redeliverer = createRedeliverer(byHand);
    const sweeper = createSweeper({
      ...byHand,
      accept: sends.accept,
      deliveryTimeoutMs: timeoutMs,
    });
    return {
      take: async ({ name, ids }) => {
        if (name === redeliverJob) await redeliverer.handle(ids);
        else if (name === dueJob) wake(dueOf(ids));
      },
      sweep: sweeper.walk,
      takeUpLapsed: sweeper.takeUpLapsed,
      sweepRedeliveries: redeliverer.sweep,
      disableFailing: (days) => disableFailing(byHand, days),
      figures: { hasRoomForOrder: sends.hasRoomForOrder, heldBack: sends.heldBack },
      drain: async () => void (await Promise.all([sends.drain(), redeliverer.drain()])),
    };
  };

  return {
    recording,
    record: (own, events) => recordEvents(recording(own), events),
    wake,
    stop,
    cancel: (own, webhookId) => cancelBacklog({ db: own, logger }, webhookId),
    reorder: (own, webhookId, whileStopping) =>
      reorderDeliveries(
        { db: own, logger, orderHoldMs, notify: wake, onStopped: () => whileStopping(stop) },
        webhookId,
      ),
    redeliver: createRedeliveryQueue(options.producers[0]!, logger),
    test: (shipperId, webhookId, sample) =>
      sendTest({ ...byHand, db: options.apiDb }, shipperId, webhookId, sample),
    dispatch: dispatcher && startDispatch(dispatcher),
    close: () => sending.close(),
  };
}
