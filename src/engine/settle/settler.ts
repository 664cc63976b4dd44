import pRetry from 'p-retry';
import { createBatcher } from '../../platform/batch.js';
import { ApiError } from '../../platform/errors.js';
import type { Metrics } from '../../platform/telemetry/metrics.js';
import type { Pool } from '../../platform/database/postgres.js';
import { createCircuitCounter } from '../circuit/counter.js';
import { responseReasons, type ResponseReason } from '../circuit/store.js';
import { countOutcomes, disableByResponse, type TransitionDependencies } from '../circuit/transitions.js';
import type { Due, Claim, Settlement } from '../outbox/types.js';
import type { Durations } from '../../platform/durations.js';
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
  const { logger, metrics, durations } = options;
  const counter = createCircuitCounter({
    logger,
    windowMs: durations.circuit.windowMs,
    countOutcomes: async (outcomes) => options.onNotCallable(await countOutcomes(options, outcomes)),
  });

  const settleBatch = createSettleBatch(options);
  const completed = {
    SUCCEEDED: metrics.completed.labels('SUCCEEDED'),
    FAILED: metrics.completed.labels('FAILED'),
  };

  const batchSize = metrics.batchSize.labels('settlements');
  const batches = createBatcher<Item, boolean>({
    maxItems: 200,
    concurrency: 2,
    maxWaiting: 10_000,
    lingerMs: () => (options.isIdle() ? durations.lingerMs : 0),
    onFlush: batchSize.observe,
    flush: async (items) => {
      for (const reason of responseReasons) await disable(items, reason);
      const results = await settleBatch(items);
      items.forEach((item, index) => followUp(item, results[index]!));
      return results.map(({ kind }) => kind !== 'lost');
    },
  });

  /** Comes first: after its commit nothing more is claimed for these webhooks, and pending claims are given back. */
  const disable = async (items: Item[], reason: ResponseReason) => {
    const disabling = items.filter(({ disables }) => disables === reason);
    if (disabling.length === 0) return;
    const targets = disabling.map(({ claim, storedAddress }) => ({
      webhookId: claim.webhookId,
      storedAddress,
    }));
    await disableByResponse(options, targets, reason);
    options.onNotCallable(targets.map(({ webhookId }) => webhookId));
  };

  const followUp = ({ claim, settlement, retryAfterMs }: Item, result: SettlingResult) => {
    if (result.kind === 'lost') return;
    counter.note(claim, settlement.status === 'SUCCEEDED', retryAfterMs);
    const { webhookId } = claim;
    const dueFromMs = result.kind === 'settled' && result.dueAt ? result.dueAt.getTime() : null;
    if (settlement.delayMs !== null) options.retryAt(settlement.delayMs, { webhookId, dueFromMs });
    if (settlement.status === 'UNCHANGED') options.notify([{ webhookId, dueFromMs }]); // it is due, if it may be called
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
        () => batches.add(item),
        () => performance.now() < giveUpAt,
        durations.patienceMs,
      );
      if (accepted) noteSettlement(metrics, completed, claim, settlement);
      else metrics.lateResults.inc();
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

function noteSettlement(
  metrics: Metrics,
  completed: Record<'SUCCEEDED' | 'FAILED', { inc(): void }>,
  claim: Claim,
  { status, reason, trigger }: Settlement,
): void {
  if (status === 'RETRY') metrics.retriesScheduled.inc();
  if (status === 'FAILED' && reason === 'REFUSED') metrics.refused.inc();
  else if (status === 'FAILED') metrics.exhausted.inc();
  if (status === 'SUCCEEDED' || status === 'FAILED') completed[status].inc();
  if (status === 'SUCCEEDED' && trigger === 'SCHEDULED')
    metrics.eventToSuccess.observe(secondsSince(claim, Date.now()));
}

export const noteSuccess = (metrics: Metrics): void => metrics.completed.inc({ status: 'SUCCEEDED' });

/** Since the event of the claim was recorded. */
export const secondsSince = ({ recordedAt }: Claim, nowMs: number): number =>
  Math.max(0, nowMs - recordedAt.getTime()) / 1_000;
