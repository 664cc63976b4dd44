import pRetry from 'p-retry';
import { createBatcher } from '../../platform/batch.js';
import { ApiError } from '../../platform/errors.js';
import type { Metrics } from '../../platform/telemetry/metrics.js';
import type { Pool } from '../../platform/database/postgres.js';
import { createCircuitCounter } from '../circuit/counter.js';
import { responseReasons, type ResponseReason } from '../circuit/store.js';
import { countOutcomes, disableByResponse, type TransitionDependencies } from '../circuit/transitions.js';
import { dueSinceUnknown, type Due, type Claim, type Settlement } from '../outbox/types.js';
import type { Durations } from '../../platform/durations.js';
import { settleRedelivery } from '../outbox/redelivery.js';
import type { SettlingResult } from '../outbox/settle.js';
import type { AttemptOutcome } from '../send/sender.js';
import { disabledBy, retryAfterMs, settlementOf } from './retry-policy.js';
import { createSettleBatch, type Outcome, type SettleBatchOptions } from './batch.js';

export interface SettlerOptions extends TransitionDependencies, SettleBatchOptions {
  db: Pool;
  metrics: Metrics;
  durations: Durations;
  retryScheduleMs: readonly number[];
  retryAt(delayMs: number, due: Due): void;
  /** These webhooks were disabled by a response, or their circuits are open: they must not be called, except for a probe. */
  onNotCallable(webhookIds: string[]): void;
  /** True at low load, when outcomes wait for each other to share a statement. */
  isIdle(): boolean;
}

export interface Settler {
  /**
   * Resolves when it is settled or, if the claim was lost, refused. It is retried for `patienceMs` while PostgreSQL is
   * down.
   */
  settle(
    claim: Claim,
    storedAddress: string,
    outcome: AttemptOutcome,
  ): Promise<{ ended: Settlement; accepted: boolean }>;
  /** From now on outcomes are retried for a few seconds only. */
  hurry(): void;
  flushed(): Promise<void>;
}

/** A delivery whose outcome is lost at shutdown is sent again when its lease has expired. */
const patienceAtStopMs = 5_000;

interface Item extends Outcome {
  storedAddress: string;
  /** Null if the response does not disable the webhook. */
  disables: ResponseReason | null;
  /** A probe's Retry-After; 0 if none. */
  retryAfterMs: number;
}

export function createSettler(options: SettlerOptions): Settler {
  const { db, logger, metrics, durations } = options;
  const counter = createCircuitCounter({
    logger,
    windowMs: durations.circuit.windowMs,
    countOutcomes: async (outcomes) => options.onNotCallable(await countOutcomes(options, outcomes)),
  });

  const batch = createSettleBatch(options);

  const batches = createBatcher<Item, boolean>({
    maxItems: 200,
    concurrency: 2,
    maxWaiting: 10_000,
    lingerMs: () => (options.isIdle() ? durations.lingerMs : 0),
    onFlush: (items) => metrics.batchSize.observe({ batch: 'settlements' }, items),
    flush: async (items) => {
      for (const reason of responseReasons) await disable(items, reason);
      const results = await batch.settle(items);
      for (const [index, item] of items.entries()) followUp(item, results[index]!);
      return results.map(({ kind }) => kind !== 'lost');
    },
  });

  /** Comes first: after its commit nothing more is claimed for these webhooks, and pending claims are given back. */
  const disable = async (items: Item[], reason: ResponseReason) => {
    const targets = items.flatMap(({ claim: { webhookId }, storedAddress, disables }) =>
      disables === reason ? { webhookId, storedAddress } : [],
    );
    if (targets.length === 0) return;
    await disableByResponse(options, targets, reason);
    options.onNotCallable(targets.map(({ webhookId }) => webhookId));
  };

  const followUp = ({ claim, settlement, retryAfterMs }: Item, result: SettlingResult) => {
    if (result.kind === 'lost') return;
    noteSettlement(metrics, claim, settlement);
    counter.note(claim, settlement.status === 'SUCCEEDED', retryAfterMs);
    const { webhookId } = claim;
    const dueFromMs = result.kind === 'settled' && result.dueAt ? result.dueAt.getTime() : null;
    if (settlement.delayMs !== null) options.retryAt(settlement.delayMs, { webhookId, dueFromMs });
    if (settlement.status === 'UNCHANGED') options.notify([{ webhookId, dueFromMs }]); // it is due, if it may be called
  };

  /** A failed redelivery leaves everything as it is; a success counts for an open circuit as a probe's. */
  const settleByHand = async (item: Item): Promise<boolean> => {
    const { claim, settlement, disables } = item;
    const succeeded = settlement.status === 'SUCCEEDED';
    if (disables !== null) await disable([item], disables);
    const settled = await settleRedelivery(db, settlement);
    if (!settled) return false;
    if (settled.finished) noteSettlement(metrics, claim, settlement);
    if (succeeded && claim.troubled) counter.note({ ...claim, isProbe: true }, true, 0);
    await batch.release([item]);
    options.notify(dueSinceUnknown([claim.webhookId])); // pulls have skipped it meanwhile
    return true;
  };

  let giveUpAt = Infinity;

  return {
    settle: async (claim, storedAddress, outcome) => {
      const settlement = settlementOf(claim, outcome, options.retryScheduleMs);
      const probeRetryAfterMs = claim.isProbe ? retryAfterMs(outcome.retryAfter, new Date()) : 0;
      const item = {
        claim,
        storedAddress,
        settlement,
        disables: disabledBy(outcome),
        retryAfterMs: probeRetryAfterMs,
      };
      const accepted = await retryWhileDatabaseDown(
        () => (claim.trigger === 'MANUAL' ? settleByHand(item) : batches.add(item)),
        () => performance.now() < giveUpAt,
        durations.patienceMs,
      );
      if (!accepted) metrics.lateResults.inc();
      return { ended: settlement, accepted };
    },
    hurry: () => void (giveUpAt = performance.now() + patienceAtStopMs),
    flushed: counter.flushed,
  };
}

/** About every second for `patienceMs`, while `mayRetry` agrees. Rejects at once with any other error. */
export const retryWhileDatabaseDown = <T>(
  task: () => Promise<T>,
  mayRetry: (error: unknown) => boolean,
  patienceMs: number,
): Promise<T> => {
  const isRetried = (error: unknown) => error instanceof ApiError && mayRetry(error);
  return task().catch((error: unknown) => {
    if (!isRetried(error)) throw error;
    return pRetry(task, {
      retries: Infinity,
      minTimeout: 250,
      maxTimeout: 1_000,
      maxRetryTime: patienceMs,
      shouldRetry: (attempt) => isRetried(attempt.error),
    });
  });
};

function noteSettlement(metrics: Metrics, claim: Claim, { status, reason, trigger }: Settlement): void {
  if (status === 'RETRY') metrics.retriesScheduled.inc();
  if (status === 'FAILED' && reason === 'REFUSED') metrics.refused.inc();
  else if (status === 'FAILED') metrics.exhausted.inc();
  if (status === 'SUCCEEDED' || status === 'FAILED') metrics.completed.inc({ status });
  if (status === 'SUCCEEDED' && trigger === 'SCHEDULED')
    metrics.eventToSuccess.observe(secondsSince(claim, Date.now()));
}

/** Since the event of the claim was recorded. */
export const secondsSince = ({ recordedAt }: Claim, nowMs: number): number =>
  Math.max(0, nowMs - recordedAt.getTime()) / 1_000;
