import { createBatcher } from '../platform/batch.js';
import { describeError } from '../platform/errors.js';
import type { Logger } from '../platform/logger.js';
import type { Metrics } from '../platform/metrics.js';
import type { Database } from '../platform/postgres.js';
import { noteAttempt, noteSettlement } from './attempt-metrics.js';
import { isGone, settlementOf } from './attempt.js';
import type { DeliveryQueue } from './enqueue.js';
import { createCircuitCounter } from './circuit-counter.js';
import { countOutcomes, disableGone } from './notice.js';
import { finishedOf, releaseNext } from './order-store.js';
import { retryAfterMs } from './retry-policy.js';
import type { SendOutcome } from './send.js';
import { findRecorded, settleDeliveries, type Claim, type Settlement } from './store.js';
import { sweepAfterMs } from './timing.js';
import { untilBack } from './until-back.js';

export interface SettlerOptions {
  db: Database;
  queue: DeliveryQueue;
  logger: Logger;
  metrics: Metrics;
  retryScheduleMs: readonly number[];
  /** Nobody waits for a slot: there is time to record outcomes together. */
  slotsAbound(): boolean;
}

/** Records outcomes, and sees to what follows from them. */
export interface Settler {
  /** Resolves when the outcome is recorded, or was refused as stale. Kept for a minute while PostgreSQL is away. */
  settle(claim: Claim, outcome: SendOutcome): Promise<void>;
  /** From now on an outcome is kept for a few seconds only. */
  hurry(): void;
  /** Resolves when what was settled so far has been counted for the circuits. */
  flushed(): Promise<void>;
}

/** What cannot be recorded that long after the process was told to stop is sent again when its lease has run out. */
const patienceAtStopMs = 5_000;

/** Only a shipment's next state waits for an outcome to be recorded, so it waits for company: fewer statements. */
const lingerMs = 10;

interface Item {
  claim: Claim;
  settlement: Settlement;
  /** How long the receiver asked a probe to leave it alone, else 0. */
  retryAfterMs: number;
}

export function createSettler(options: SettlerOptions): Settler {
  const { db, queue, logger, metrics, retryScheduleMs } = options;
  const counter = createCircuitCounter({
    logger,
    countOutcomes: (outcomes) => countOutcomes(options, outcomes),
  });

  const batches = createBatcher<Item, boolean>({
    maxItems: 200,
    concurrency: 2,
    maxWaiting: 10_000,
    lingerMs: () => (options.slotsAbound() ? lingerMs : 0),
    onFlush: (items) => metrics.batchSize.observe({ batch: 'settlements' }, items),
    flush: async (items) => {
      await disableThoseGone(items);
      const settled = await settleDeliveries(
        db,
        items.map(({ settlement }) => settlement),
        sweepAfterMs,
      );
      const isNew = ({ claim }: Item) => settled.get(claim.deliveryId) === claim.number;
      const before = await recordedBefore(items.filter((item) => !isNew(item)));
      const isRecorded = (item: Item) => isNew(item) || before.has(item);
      await followUp(items.filter(isRecorded));
      return items.map(isRecorded);
    },
  });

  /** What was refused because it is recorded already: only the answer to that commit was lost. */
  const recordedBefore = async (refused: Item[]): Promise<Set<Item>> => {
    if (refused.length === 0) return new Set();
    const settlements = refused.map(({ settlement }) => settlement);
    const found = new Set(await findRecorded(db, settlements));
    return new Set(refused.filter(({ claim }) => found.has(claim.deliveryId)));
  };

  /** First of all: from this commit on nothing more is sent there. */
  const disableThoseGone = async (items: Item[]) => {
    const gone = items.flatMap(({ claim, settlement }) => (isGone(settlement) ? claim : []));
    if (gone.length > 0) await disableGone(options, gone);
  };

  /** What is lost here the sweeper finds: the outcome itself is committed. */
  const forgive = (error: unknown) => logger.warn({ error: describeError(error) }, 'follow-up failed');

  const followUp = async (items: Item[]): Promise<void> => {
    for (const { claim, settlement, retryAfterMs } of items) {
      counter.note(claim, settlement.status === 'SUCCEEDED', retryAfterMs);
      if (settlement.delayMs !== null) queue.wakeAt(new Date(Date.now() + settlement.delayMs));
    }
    const finished = items.flatMap(({ claim, settlement }) => (isFinal(settlement) ? finishedOf(claim) : []));
    if (finished.length > 0) await releaseNext(db, finished, sweepAfterMs).then(queue.enqueue).catch(forgive);
  };

  let giveUpAt = Infinity;

  return {
    settle: async (claim, outcome) => {
      const settlement = settlementOf(claim, outcome, retryScheduleMs);
      const askedMs = claim.isProbe ? retryAfterMs(outcome.retryAfter, new Date()) : 0;
      const item = { claim, settlement, retryAfterMs: askedMs };
      const accepted = await untilBack(
        () => batches.add(item),
        () => performance.now() < giveUpAt,
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

const isFinal = ({ status }: Settlement) => status === 'SUCCEEDED' || status === 'FAILED';

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
