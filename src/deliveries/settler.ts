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

interface Item {
  claim: Claim;
  settlement: Settlement;
  /** What the receiver asked for, if anything. */
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
    onFlush: (items) => metrics.batchSize.observe({ batch: 'settlements' }, items),
    flush: async (items) => {
      await disableThoseGone(items);
      const settled = await settleDeliveries(
        db,
        items.map(({ settlement }) => settlement),
        sweepAfterMs,
      );
      const isSettled = ({ claim }: Item) => settled.get(claim.deliveryId) === claim.number;
      for (const deliveryId of await recordedBefore(items.filter((item) => !isSettled(item)))) {
        const { number } = items.find(({ claim }) => claim.deliveryId === deliveryId)!.claim;
        settled.set(deliveryId, number);
      }
      await followUp(items.filter(isSettled));
      return items.map(isSettled);
    },
  });

  /** What was refused because it is recorded already: only the answer to that commit was lost. */
  const recordedBefore = async (refused: Item[]): Promise<string[]> =>
    refused.length === 0
      ? []
      : findRecorded(
          db,
          refused.map(({ settlement }) => settlement),
        );

  /** First of all: from this commit on nothing more is sent there. */
  const disableThoseGone = async (items: Item[]) => {
    const gone = items.filter(({ settlement }) => isGone(settlement));
    if (gone.length > 0)
      await disableGone(
        options,
        gone.map(({ claim }) => claim),
      );
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
      const item = { claim, settlement, retryAfterMs: retryAfterMs(outcome.retryAfter, new Date()) };
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
