import { createBatcher } from '../platform/batch.js';
import type { Database, Pool } from '../platform/database/postgres.js';
import type { Durations } from '../platform/durations.js';
import { describeError } from '../platform/errors.js';
import type { Producer } from '../platform/queue/engine.js';
import { createThrottledWarn, type Logger } from '../platform/telemetry/logger.js';
import type { Metrics } from '../platform/telemetry/metrics.js';
import type { Tracing } from '../platform/telemetry/tracing.js';
import { version } from '../platform/version.js';
import { createAgreements, createSharing } from './attempt/agreements.js';
import { createAttemptCounter, createBodies, sendTest, testLeaseMs, type Sample } from './attempt/attempt.js';
import { untilNoSendCanStart, createStarts } from './attempt/leases.js';
import { judgeFailing } from './circuit/circuit.js';
import { tellExhausted, type Notice, type Disabled } from './circuit/notices.js';
import { reorderDeliveries } from './outbox/turns.js';
import { Paces } from './schedule/pace.js';
import type { HeldBack } from './schedule/places.js';
import { distinctDue, noRoom, type Claim, type Due, type HandOver } from './outbox/types.js';
import { recordEvents, type NewEvent, type RecordDependencies, type RecordResult } from './record/record.js';
import { createDispatcher, type Dispatcher, type DispatcherOptions } from './attempt/dispatcher.js';
import type { Destinations } from './send/destination.js';
import type { LookupOptions } from './send/dns/resolver.js';
import { createTargets, type Sealer } from './send/sealing.js';
import { createSending } from './send/threads.js';
import { cancelBacklog, createSweeper } from './sweep/sweeper.js';

// Events and their states.
export {
  allowedFrom,
  changeRefused,
  recordCreations,
  recordEvents,
  rehearseCreation,
} from './record/record.js';
export type { NewEvent, RecordDependencies, RecordResult } from './record/record.js';
export {
  deleteOldExternalIds,
  eraseSomeEvents,
  loadShipments,
  markErased,
  type MarkedShipment,
  type ShipmentHead,
} from './record/store.js';

// Owed deliveries. Others build their own statements from these conditions and columns.
export {
  blocker,
  frontOf,
  erasedEvents,
  eventsOf,
  firstIdInRangeOf,
  hourOf,
  insertAttempts,
  insertIntoLog,
  isActive,
  isCallable,
  isDeliveryOf,
  isInRangeOf,
  isInterested,
  isPausedByOperator,
  isProbed,
  isTroubled,
  isWithdrawn,
  lockMoves,
  maxLaterStates,
  ms,
  noOutcome,
  outcomeColumns,
  outcomeOf,
  owedByKey,
  owedOf,
  owedSinceBefore,
  owedTo,
  owingWebhooks,
  sameDelivery,
  shipmentsOwedTo,
  takeOut,
  unfinishedDeliveries,
} from './outbox/sql.js';
export { clockLeewayMs, isParking, parkingKey } from './outbox/insert.js';
export { isErasedDelivery } from './outbox/redelivery.js';
export { dueSinceUnknown, triggers, type Due, type Turn } from './outbox/types.js';
export { cancelErased, cancelExpired, owedToRemove } from './outbox/turns.js';
export { distinctTurns, makeTurnsWait, releaseTurns } from './outbox/turns.js';

// Sending.
export { deleteOldDestinations } from './attempt/agreements.js';
export { untilNoSendCanStart } from './attempt/leases.js';
export { notices, type Notice } from './circuit/notices.js';
export { disablesAt, forgetCircuit, forgetCircuits, renewCircuit } from './circuit/store.js';
export { laneLimits } from './schedule/lanes.js';
export { placesOf, type HeldBack } from './schedule/places.js';
export {
  checkTargetAddress,
  policyOf,
  requestTargetOf,
  type DestinationPolicy,
  type Destinations,
} from './send/destination.js';
export { noDetail, parseDetail, type AttemptDetail, type WaitedMs } from './send/messages.js';
export { errorCodes, errorCodesExplained, errorDetails, errorDetailsExplained } from './send/errors.js';
export { sign, type OwnHeaders } from './send/headers.js';
export { isProxyUrl } from './send/race.js';
export {
  createSealer,
  createSecretBox,
  masked,
  maskHeaders,
  newSecret,
  withoutQuery,
  withoutQuerySql,
  type Sealer,
  type SecretBox,
} from './send/sealing.js';

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
  clientCertificate: { cert: string; key: string } | undefined;
  timeoutMs: number;
  connectionMaxAgeMs: number;
  /** Attempts per second at one host and port whose receiver has not agreed to more; 0: any number. */
  destinationRate: { perSecond: number; agreed: readonly string[] };
  /** 0: attempts are made in the process. */
  sendThreads: number;
  retryScheduleMs: readonly number[];
  orderHoldMs: number;
  logAttempts: DispatcherOptions['logAttempts'];
  logDetail: DispatcherOptions['logDetail'];
  states: Pick<RecordDependencies, 'allows' | 'next' | 'terminalStates'>;
  /** Called after each commit with the shippers of the events. */
  onRecorded(shipperIds: Set<string>): void;
  /** Called after the commit with what is stored of an event, or of a response to it. */
  onStored(shipperId: string, bytes: number): void;
  /** Called in the transaction that disables the webhooks. */
  onDisabled(tx: Database, webhooks: Disabled[]): Promise<void>;
  /** Called in the transaction that records the notices. */
  onNoticed?(tx: Database, notices: Notice[]): Promise<void>;
}

/** The engine's door: the rest of the service knows only this of what is between a state event and the log. */
export interface Engine {
  /** Gives the dependencies to a caller that records with a connection of its own. */
  recording(db: Database): RecordDependencies;
  record(db: Database, events: NewEvent[]): Promise<RecordResult[]>;
  /** Tells this process or another that these webhooks have something due. */
  wake(due: Due[]): void;
  /** Call it after the commit that stopped webhooks. Resolves when none of their attempts can start any more. */
  stop(): Promise<void>;
  /** Cancels what a deleted webhook is owed, as much as a request may; the sweep does the rest. */
  cancel(db: Database, webhookId: string): Promise<void>;
  /** Call it after `ordering` has changed. `whileStopping` runs what waits for `stop`. */
  reorder(
    db: Database,
    webhookId: string,
    whileStopping: (wait: () => Promise<void>) => Promise<void>,
  ): Promise<void>;
  /** Makes one attempt outside the schedule, in this process or another. Call it after its request is committed. */
  redeliver(deliveryId: string): void;
  /** Makes one attempt from this process. Resolves with the claim that it settled. */
  test(shipperId: string, webhookId: string, sample: Sample): Promise<Claim>;
  /** Null in a process that sends nothing but tests. */
  dispatch: Dispatch | null;
  close(): void;
}

/** The part that only a process with attempts of its own has. */
export interface Dispatch {
  /** Takes a job of a queue of deliveries. */
  take(job: { name: string; ids: string[] }): Promise<void>;
  /** Shares the paces of hosts and webhooks with the other processes that send. */
  sharePaces(): Promise<void>;
  /** Sets how many attempts in flight each of these shippers may have in this process; others have no limit. */
  limitShippers(limits: ReadonlyMap<string, number>): void;
  /** Each call is one step and returns the milliseconds until the next one. */
  sweep(): Promise<number>;
  takeUpLapsed(): Promise<number>;
  sweepRedeliveries(): Promise<void>;
  judgeFailing(): Promise<void>;
  tellExhausted(): Promise<void>;
  figures: {
    /** True if this process can soon start what one more order of this shipper will owe. */
    hasRoomForOrder: Dispatcher['hasRoomForOrder'];
    /** Claims that wait for this process, by webhook. */
    heldBack(): Record<string, HeldBack>;
    lastEndAtMs: Dispatcher['lastEndAtMs'];
  };
  /** Resolves when each attempt under way is settled. It may be called again for what was claimed meanwhile. */
  drain(): Promise<void>;
}

export function createEngine(options: EngineOptions): Engine {
  const { leaseDb, logger, metrics, tracing, durations, orderHoldMs, concurrency, timeoutMs } = options;
  const { terminalStates } = options.states;
  const { destinations, dns, egressProxy, clientCertificate, connectionMaxAgeMs } = options;
  const sending = createSending({
    settings: { destinations, dns, egressProxy, clientCertificate, timeoutMs, connectionMaxAgeMs, version },
    threads: options.sendThreads,
    logger,
    metrics,
  });
  const wakeOthers = createNotify(options.producers, logger);
  const attempting = {
    ...options,
    terminalStates,
    countAttempt: createAttemptCounter(metrics),
    sending,
    targets: createTargets(leaseDb, options.sealer),
    bodies: createBodies(leaseDb),
    starts: createStarts(leaseDb, durations),
  };
  const { perSecond, agreed } = options.destinationRate;
  const paces = new Paces(perSecond, agreed);
  const dispatcher =
    concurrency === null
      ? null
      : createDispatcher({
          ...attempting,
          concurrency,
          paces,
          agree: createAgreements(attempting),
          onLeft: wakeOthers,
        });
  const handOver: HandOver = dispatcher ?? {
    reserve: () => noRoom,
    recorded: (_room, _claims, left) => wakeOthers(left),
    notify: wakeOthers,
  };
  const wake = handOver.notify;
  const leaseOfTestMs = testLeaseMs(timeoutMs, durations);
  const waking = { ...attempting, notify: wake };
  const stop = () => untilNoSendCanStart(durations);
  const recording = (own: Database): RecordDependencies => ({
    ...options.states,
    db: own,
    leaseMs: durations.leaseMs,
    orderHoldMs,
    handOver,
    onRecorded: options.onRecorded,
    onStored: options.onStored,
    tracing,
    metrics,
  });

  const startDispatch = (sends: NonNullable<typeof dispatcher>): Dispatch => {
    const { accept, redeliver } = sends;
    const sweeper = createSweeper({ ...waking, accept, redeliver, testLeaseMs: leaseOfTestMs });
    return {
      take: async ({ name, ids }) => {
        if (name === redeliverJob) await redeliver();
        else if (name === dueJob) wake(dueOf(ids));
      },
      sharePaces: createSharing(leaseDb, paces),
      limitShippers: sends.limitShippers,
      sweep: sweeper.walk,
      takeUpLapsed: sweeper.takeUpLapsed,
      sweepRedeliveries: sweeper.redeliveries,
      judgeFailing: () => judgeFailing(waking),
      tellExhausted: () => tellExhausted(waking, durations.exhaustedPauseMs),
      figures: {
        hasRoomForOrder: sends.hasRoomForOrder,
        heldBack: sends.heldBack,
        lastEndAtMs: sends.lastEndAtMs,
      },
      drain: sends.drain,
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
    redeliver: dispatcher
      ? () => void dispatcher.redeliver()
      : createRedeliverJobs(options.producers[0]!, logger),
    test: (shipperId, webhookId, sample) =>
      sendTest({ ...waking, db: options.apiDb }, shipperId, webhookId, sample),
    dispatch: dispatcher && startDispatch(dispatcher),
    close: () => sending.close(),
  };
}

export const queueNames = (shards: number): string[] =>
  Array.from({ length: shards }, (_, n) => `deliver-${n}`);

const dueJob = 'due';
const redeliverJob = 'redeliver';
const idsPerJob = 200;
/** While more jobs wait, no worker reads them; the sweeper finds what is due anyway. */
const maxJobsWaiting = 1_000;
const countedEveryMs = 1_000;

/** A worker that gets such a job looks for all redeliveries that wait. */
const createRedeliverJobs =
  (producer: Producer, logger: Logger) =>
  (deliveryId: string): void =>
    void producer
      .add([{ name: redeliverJob, id: `r-${deliveryId}-${Date.now()}`, ids: [deliveryId] }])
      .catch((error: unknown) =>
        logger.warn({ error: describeError(error) }, 'redelivery not enqueued; the sweeper sends it'),
      );

/** The random tail of a webhook's id spreads webhooks over the shards. */
const shardOf = (webhookId: string, shards: number) => Number.parseInt(webhookId.slice(-6), 16) % shards;

/** `<webhookId>@<epoch ms>`, or the webhook's id alone if the time is unknown. */
const toId = ({ webhookId, dueFromMs }: Due) =>
  dueFromMs === null ? webhookId : `${webhookId}@${dueFromMs}`;

export function dueOf(ids: string[]): Due[] {
  return ids.map((id) => {
    const [webhookId, dueFrom] = id.split('@');
    const dueFromMs = dueFrom === undefined ? NaN : Number(dueFrom);
    return { webhookId: webhookId!, dueFromMs: Number.isFinite(dueFromMs) ? dueFromMs : null };
  });
}

/** Goes through the queue. Fire and forget: the sweeper is the safety net. */
export function createNotify(producers: Producer[], logger: Logger): HandOver['notify'] {
  const giveUp = createThrottledWarn(logger, 'due webhooks not enqueued; left to the sweeper');
  let jobs = 0;

  const shards = producers.map((producer) => {
    let full = false;
    let countedAt = 0;
    const isFull = async () => {
      if (performance.now() - countedAt < countedEveryMs) return full;
      countedAt = performance.now();
      return (full = (await producer.waitingCount()) > maxJobsWaiting);
    };
    const add = async (due: Due[]) => {
      if (await isFull()) return;
      jobs += 1;
      const id = `${dueJob}-${Date.now()}-${jobs}-${due[0]!.webhookId}`;
      await producer.add([{ name: dueJob, id, ids: due.map(toId) }]);
    };
    return createBatcher<Due, undefined>({
      maxItems: idsPerJob,
      concurrency: 1,
      maxWaiting: 100_000,
      flush: async (due) => {
        await add(distinctDue(due)).catch(giveUp);
        return due.map(() => undefined);
      },
    });
  });

  return (due) => {
    for (const one of distinctDue(due))
      shards[shardOf(one.webhookId, producers.length)]!.add(one).catch(() => undefined); // left to the sweeper
  };
}
