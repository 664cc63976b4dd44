import { createBatcher } from '../platform/batch.js';
import { describeError } from '../platform/errors.js';
import type { Logger } from '../platform/logger.js';
import type { Metrics } from '../platform/metrics.js';
import type { Database } from '../platform/postgres.js';
import { noteAttempt, noteSettlement } from './attempt-metrics.js';
import { settlementOf } from './attempt.js';
import type { DeliveryQueue } from './enqueue.js';
import { createCircuitCounter } from './circuit-counter.js';
import { countOutcomes, disable } from './notice.js';
import { finishedOf, releaseNext } from './order-store.js';
import type { SendOutcome } from './send.js';
import { settleDeliveries, type Claim, type Settlement } from './store.js';
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

const goneStatus = 410;

/** What cannot be recorded that long after the process was told to stop is sent again when its lease has run out. */
const patienceAtStopMs = 5_000;

interface Item {
  claim: Claim;
  settlement: Settlement;
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
      await disableGone(items);
      const settled = await settleDeliveries(
        db,
        items.map(({ settlement }) => settlement),
        sweepAfterMs,
      );
      const isSettled = ({ claim }: Item) => settled.get(claim.deliveryId) === claim.number;
      await followUp(items.filter(isSettled));
      return items.map(isSettled);
    },
  });

  /** First of all: from this commit on nothing more is sent there. */
  const disableGone = async (items: Item[]) => {
    const gone = items.filter(({ settlement }) => settlement.statusCode === goneStatus);
    if (gone.length > 0) await disable(options, unique(gone.map(({ claim }) => claim.webhookId)), 'GONE');
  };

  /** What is lost here the sweeper finds: the outcome itself is committed. */
  const forgive = (error: unknown) => logger.warn({ error: describeError(error) }, 'follow-up failed');

  const followUp = async (items: Item[]): Promise<void> => {
    for (const { claim, settlement } of items) {
      counter.note(claim, settlement.status === 'SUCCEEDED');
      if (settlement.delayMs !== null) queue.wakeAt(new Date(Date.now() + settlement.delayMs));
    }
    const finished = items.flatMap(({ claim, settlement }) => (isFinal(settlement) ? finishedOf(claim) : []));
    if (finished.length > 0) await releaseNext(db, finished, sweepAfterMs).then(queue.enqueue).catch(forgive);
  };

  let giveUpAt = Infinity;

  return {
    settle: async (claim, outcome) => {
      const settlement = settlementOf(claim, outcome, retryScheduleMs);
      const accepted = await untilBack(
        () => batches.add({ claim, settlement }),
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
const unique = (ids: string[]) => [...new Set(ids)];

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
