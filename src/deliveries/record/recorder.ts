import { createBatcher } from '../../platform/batch.js';
import { describeError } from '../../platform/errors.js';
import type { Logger } from '../../platform/logger.js';
import type { Metrics } from '../../platform/metrics.js';
import { isUniqueViolation, type Pool } from '../../platform/database/postgres.js';
import { createCircuitCounter } from '../circuit/counter.js';
import { countOutcomes, disableGone, type TransitionDependencies } from '../circuit/transitions.js';
import { findRecorded, settle, settleOnceMore } from '../outbox/settle.js';
import type { Times } from '../outbox/times.js';
import { distinctTurns, giveTurns, supersede, type Overtaken } from '../outbox/turns.js';
import type { Claim, Settlement } from '../outbox/types.js';
import type { AttemptOutcome } from '../send/request.js';
import { noteAttempt, noteSettlement } from './attempt-metrics.js';
import { isGone, settlementOf } from './outcome.js';
import { retryAfterMs } from './retry-policy.js';
import { untilBack } from './until-back.js';

export interface RecorderOptions extends TransitionDependencies {
  db: Pool;
  logger: Logger;
  metrics: Metrics;
  times: Times;
  retryScheduleMs: readonly number[];
  orderHoldMs: number;
  /** Never superseded. */
  terminalStates: string[];
  /** As `look`, where it is known that it became due just now. */
  lookAhead(webhookIds: string[]): void;
  /** A retry of the webhook is due after this time. */
  wakeAt(delayMs: number, webhookId: string): void;
  /** The circuits of these webhooks are open: but for a probe they are not to be called. */
  onOpen(webhookIds: string[]): void;
  /** There is time to record outcomes together. */
  leisure(): boolean;
}

/** Records outcomes, and sees to what follows from them. */
export interface Recorder {
  /** Resolves when the outcome is recorded, or was refused as stale. Kept for a minute while PostgreSQL is away. */
  record(claim: Claim, storedAddress: string, outcome: AttemptOutcome): Promise<void>;
  /** From now on an outcome is kept for a few seconds only. */
  hurry(): void;
  /** Resolves when what was recorded so far has been counted for the circuits. */
  flushed(): Promise<void>;
}

/** What cannot be recorded that long after the process was told to stop is sent again when its lease has run out. */
const patienceAtStopMs = 5_000;

interface Item {
  claim: Claim;
  /** Where it was sent. */
  storedAddress: string;
  settlement: Settlement;
  /** How long the receiver asked a probe to leave it alone, else 0. */
  retryAfterMs: number;
}

interface Settled {
  recorded: Set<Item>;
  /** What was finished has passed its turn on. */
  turnsGiven: boolean;
}

export function createRecorder(options: RecorderOptions): Recorder {
  const { db, logger, metrics, times } = options;
  const counter = createCircuitCounter({
    logger,
    windowMs: times.circuit.windowMs,
    countOutcomes: async (outcomes) => options.onOpen(await countOutcomes(options, outcomes)),
  });

  const batches = createBatcher<Item, boolean>({
    maxItems: 200,
    concurrency: 2,
    maxWaiting: 10_000,
    lingerMs: () => (options.leisure() ? times.lingerMs : 0),
    onFlush: (items) => metrics.batchSize.observe({ batch: 'settlements' }, items),
    flush: async (items) => {
      await disableThoseGone(items);
      const { recorded, turnsGiven } = await settleOrFind(items);
      await followUp(
        items.filter((item) => recorded.has(item)),
        turnsGiven,
      );
      return items.map((item) => recorded.has(item));
    },
  });

  /** Refused is also what was moved while the statement ran, and what is recorded but whose answer was lost. */
  const settleOrFind = async (items: Item[]): Promise<Settled> => {
    const { recorded, turnsGiven } = await settleNow(items);
    const refused = items.filter((item) => !recorded.has(item));
    if (refused.length === 0) return { recorded, turnsGiven };
    const found = new Set(
      await findRecorded(
        db,
        refused.map(({ settlement }) => settlement),
      ),
    );
    const known = refused.filter(({ claim }) => found.has(claim.deliveryId));
    return { recorded: new Set([...recorded, ...known]), turnsGiven };
  };
  /** In one message, where nothing is to be superseded between the two: at light load that is a fifth of all. */
  const settleNow = async (items: Item[]): Promise<Settled> => {
    const settlements = items.map(({ settlement }) => settlement);
    const turns = items.some(mayBeOvertaken) ? [] : finishedTurns(items);
    const [settled, due] =
      turns.length > 0
        ? await db.together(
            (one) => settle(one, settlements),
            (one) => giveTurns(one, turns, options.orderHoldMs),
          )
        : await Promise.allSettled([settle(db, settlements)]);
    if (due?.status === 'fulfilled') options.lookAhead(due.value);
    if (settled.status === 'fulfilled')
      return { recorded: itemsOf(settled.value, items), turnsGiven: due?.status === 'fulfilled' };
    if (!isUniqueViolation(settled.reason)) throw settled.reason;
    return { recorded: itemsOf(await settleOnceMore(db, settlements), items), turnsGiven: false };
  };

  /** First of all: from this commit on nothing more is sent there. */
  const disableThoseGone = async (items: Item[]) => {
    const gone = items.flatMap(({ claim: { webhookId }, storedAddress, settlement }) =>
      isGone(settlement) ? { webhookId, storedAddress } : [],
    );
    if (gone.length > 0) await disableGone(options, gone);
  };

  const followUp = async (items: Item[], turnsGiven: boolean): Promise<void> => {
    for (const { claim, settlement, retryAfterMs } of items) {
      counter.note(claim, settlement.status === 'SUCCEEDED', retryAfterMs);
      if (settlement.delayMs !== null) options.wakeAt(settlement.delayMs, claim.webhookId);
    }
    if (!turnsGiven) await passTurnOn(items);
  };

  /** What is lost here the sweeper finds: the outcome itself is committed. */
  const passTurnOn = async (items: Item[]) => {
    const overtaken = items.flatMap((item) => (mayBeOvertaken(item) ? turnOf(item.claim) : []));
    const turns = distinctTurns([...overtaken, ...finishedTurns(items)]);
    try {
      if (overtaken.length > 0) await supersede(db, distinctTurns(overtaken), options.terminalStates);
      if (turns.length > 0) options.lookAhead(await giveTurns(db, turns, options.orderHoldMs));
    } catch (error) {
      logger.warn({ error: describeError(error) }, 'follow-up failed');
    }
  };

  let giveUpAt = Infinity;

  return {
    record: async (claim, storedAddress, outcome) => {
      const settlement = settlementOf(claim, outcome, options.retryScheduleMs);
      const askedMs = claim.isProbe ? retryAfterMs(outcome.retryAfter, new Date()) : 0;
      const item = { claim, storedAddress, settlement, retryAfterMs: askedMs };
      const accepted = await untilBack(
        () => batches.add(item),
        () => performance.now() < giveUpAt,
        times.patienceMs,
      );
      noteAttempt(metrics, claim, settlement);
      if (accepted) noteSettlement(metrics, claim, settlement);
      else metrics.lateResults.inc();
      logAttempt(logger, claim, settlement, accepted);
    },
    hurry: () => void (giveUpAt = performance.now() + patienceAtStopMs),
    flushed: counter.flushed,
  };
}

/** It has failed, and is owed still; of a replay only what used up an attempt of its schedule. */
const mayBeOvertaken = ({ claim: { supersedes, trigger }, settlement: { status } }: Item) =>
  supersedes && (status === 'RETRY' || (status === 'UNCHANGED' && trigger === 'SCHEDULED'));

const isFinal = ({ status }: Settlement) => status === 'SUCCEEDED' || status === 'FAILED';

const finishedTurns = (items: Item[]) =>
  distinctTurns(items.flatMap(({ claim, settlement }) => (isFinal(settlement) ? turnOf(claim) : [])));

const itemsOf = (settled: Map<string, number>, items: Item[]) =>
  new Set(items.filter(({ claim }) => settled.get(claim.deliveryId) === claim.number));

const turnOf = ({ ordered, supersedes, webhookId, shipmentId }: Claim): Overtaken[] =>
  (ordered || supersedes) && shipmentId !== null ? [{ webhookId, shipmentId, before: null }] : [];

function logAttempt(logger: Logger, claim: Claim, settlement: Settlement, accepted: boolean): void {
  const line = {
    deliveryId: claim.deliveryId,
    webhookId: claim.webhookId,
    attempt: claim.number,
    status: settlement.status,
    statusCode: settlement.statusCode,
    errorCode: settlement.errorCode,
    durationMs: Math.round(settlement.durationMs),
    delayMs: settlement.delayMs,
  };
  if (accepted) logger.info(line, 'attempt');
  else logger.warn(line, 'attempt came too late; its lease was taken away');
}
