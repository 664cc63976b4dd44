import { LRUCache } from 'lru-cache';
import pRetry from 'p-retry';
import { createBatcher } from '../../platform/batch.js';
import { databaseNowMs } from '../../platform/clock.js';
import { ApiError, describeError } from '../../platform/errors.js';
import type { Metrics } from '../../platform/telemetry/metrics.js';
import { traceIdOf } from '../../platform/telemetry/tracing.js';
import { isUniqueViolation, type Database, type Pool } from '../../platform/database/postgres.js';
import { responseReasons, type ResponseReason } from '../circuit/store.js';
import { countOutcomes, disableByResponse } from '../circuit/circuit.js';
import type { TransitionDependencies } from '../circuit/notices.js';
import { createCircuitCounter } from '../circuit/counter.js';
import { dueSinceUnknown, type Due, type Claim, type Settlement } from '../outbox/types.js';
import type { Durations } from '../../platform/durations.js';
import { endProbes, settle, settleOnceMore, type Settled } from '../outbox/claim.js';
import { settleRedelivery } from '../outbox/redelivery.js';
import {
  distinctTurns,
  passTurnsOn,
  releaseTurns,
  turnsOf,
  webhooksOf,
  type PassOnOptions,
} from '../outbox/turns.js';
import type { AttemptOutcome } from '../send/messages.js';
import { disabledBy, isLost, maxFreeLosses, retryAfterMs, settlementOf } from './retry-policy.js';
import { rowSet } from '../../platform/database/parameters.js';

export interface SettlerOptions extends TransitionDependencies, SettleBatchOptions {
  db: Pool;
  metrics: Metrics;
  durations: Durations;
  retryScheduleMs: readonly number[];
  retryAt(delayMs: number, due: Due): void;
  onStored(shipperId: string, bytes: number): void;
  /** These webhooks were disabled by a response, or their circuits are open: they must not be called, except for a probe. */
  onNotCallable(webhookIds: string[]): void;
  /** How long an outcome waits for others to share a statement. */
  lingerMs(): number;
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

export function createSettler(options: SettlerOptions) {
  const { db, logger, metrics, durations } = options;
  const counter = createCircuitCounter({
    logger,
    windowMs: durations.circuit.windowMs,
    countOutcomes: async (outcomes) => options.onNotCallable(await countOutcomes(options, outcomes)),
  });

  const batch = createSettleBatch(options);
  const completed = {
    SUCCEEDED: metrics.completed.labels('SUCCEEDED'),
    FAILED: metrics.completed.labels('FAILED'),
  };

  const exhausted = countExhausted(metrics);

  const batchSize = metrics.batchSize.labels('settlements');
  const batches = createBatcher<Item, boolean>({
    maxItems: 200,
    concurrency: 2,
    maxWaiting: 10_000,
    lingerMs: options.lingerMs,
    onFlush: batchSize.observe,
    flush: async (items) => {
      for (const reason of responseReasons) await disable(items, reason);
      const results = await batch.settle(items);
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

  /** A probe that was lost says nothing: the next one may come at once. */
  const endProbe = (webhookId: string) =>
    void endProbes(db, [webhookId]).catch((error: unknown) =>
      logger.warn({ webhookId, error: describeError(error) }, 'probe not ended; the next one comes later'),
    );

  const followUp = ({ claim, storedAddress, settlement, retryAfterMs }: Item, result: SettlingResult) => {
    if (result.kind === 'lost') return;
    options.onStored(claim.shipperId, responseLength(settlement));
    noteSettlement(metrics, completed, exhausted, claim, settlement);
    const { webhookId } = claim;
    if (!isLost(settlement))
      counter.note(claim, storedAddress, resultFor(settlement), retryAfterMs, settlement);
    else if (claim.isProbe) endProbe(webhookId);
    const dueFromMs = result.kind === 'settled' && result.dueAt ? result.dueAt.getTime() : null;
    if (settlement.delayMs !== null) options.retryAt(settlement.delayMs, { webhookId, dueFromMs });
    if (settlement.status === 'UNCHANGED') options.notify([{ webhookId, dueFromMs }]); // it is due, if it may be called
  };

  /** How often the thread of a redelivery has ended, by delivery. */
  const losses = new LRUCache<string, number>({ max: 10_000 });
  /** No if the redelivery may be what ends the threads. */
  const isMadeAgain = ({ deliveryId }: Claim): boolean => {
    const count = (losses.get(deliveryId) ?? 0) + 1;
    losses.set(deliveryId, count);
    return count <= maxFreeLosses;
  };

  /** A failed redelivery leaves everything as it is. A success counts for an open circuit like that of a probe. */
  const settleByHand = async (item: Item): Promise<boolean> => {
    const { claim, settlement, disables } = item;
    if (isLost(settlement) && isMadeAgain(claim)) throw new Error('its sender thread ended'); // when its lease has expired
    const succeeded = settlement.status === 'SUCCEEDED';
    if (disables !== null) await disable([item], disables);
    const settled = await settleRedelivery(db, settlement);
    if (!settled) return false;
    options.onStored(claim.shipperId, responseLength(settlement));
    losses.delete(claim.deliveryId);
    if (settled.finished) noteSettlement(metrics, completed, exhausted, claim, settlement);
    if (succeeded && claim.troubled)
      counter.note({ ...claim, isProbe: true }, item.storedAddress, 'SUCCEEDED', 0, settlement);
    await batch.release([item]);
    options.notify(dueSinceUnknown([claim.webhookId])); // pulls have skipped it meanwhile
    return true;
  };

  let giveUpAt = Infinity;

  return {
    /**
     * Resolves when it is settled or, if the claim was lost, refused. It is retried for `patienceMs` while PostgreSQL is
     * down.
     */
    settle: async (
      claim: Claim,
      storedAddress: string,
      outcome: AttemptOutcome,
    ): Promise<{ ended: Settlement; accepted: boolean }> => {
      const settlement = settlementOf(claim, outcome, options.retryScheduleMs);
      const probeRetryAfterMs = claim.isProbe
        ? retryAfterMs(outcome.retryAfter, new Date(databaseNowMs()))
        : 0;
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
    /** From now on outcomes are retried for a few seconds only. */
    hurry: () => void (giveUpAt = performance.now() + patienceAtStopMs),
    flushed: counter.flushed,
  };
}

/** The result as the circuit counts it. */
const resultFor = ({ status, reason }: Settlement) =>
  status === 'SUCCEEDED' ? status : reason === 'REFUSED' ? reason : 'FAILED';

const responseLength = ({ responseBody, detail }: Settlement): number =>
  (responseBody?.length ?? 0) + (detail?.length ?? 0);

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

/** Counts the webhooks that have used up the retries of a delivery in the last hour. */
function countExhausted(metrics: Metrics): (webhookId: string) => void {
  const webhooks = new LRUCache<string, true>({ max: 10_000, ttl: 3_600_000 });
  metrics.onScrape(() => {
    webhooks.purgeStale();
    metrics.webhooksExhausted.set(webhooks.size);
  });
  return (webhookId) => {
    metrics.exhausted.inc();
    webhooks.set(webhookId, true);
  };
}

function noteSettlement(
  metrics: Metrics,
  completed: Record<'SUCCEEDED' | 'FAILED', { inc(): void }>,
  exhausted: (webhookId: string) => void,
  claim: Claim,
  { status, reason, trigger }: Settlement,
): void {
  if (status === 'RETRY') metrics.retriesScheduled.inc();
  if (status === 'FAILED' && reason === 'REFUSED') metrics.refused.inc();
  else if (status === 'FAILED') exhausted(claim.webhookId);
  if (status === 'SUCCEEDED' || status === 'FAILED') completed[status].inc();
  if (status === 'SUCCEEDED' && trigger === 'SCHEDULED') {
    const seconds = secondsSince(claim, databaseNowMs());
    metrics.eventToSuccess.observe(seconds);
    metrics.exemplars?.keep(metrics.eventToSuccess, seconds, traceIdOf(claim.trace));
  }
}

/** Since the event of the claim was recorded. */
export const secondsSince = ({ recordedAt }: Claim, nowMs: number): number =>
  Math.max(0, nowMs - recordedAt.getTime()) / 1_000;

export interface SettleBatchOptions extends PassOnOptions {
  db: Database & Pick<Pool, 'together'>;
}

export interface Outcome {
  claim: Claim;
  settlement: Settlement;
}

export function createSettleBatch(options: SettleBatchOptions) {
  const { db, orderHoldMs } = options;

  /** Uses one round trip if nothing can be superseded in between: at low load that saves a fifth of all messages. */
  const settleAndRelease = async (items: Outcome[], settlements: Settlement[]) => {
    const turns = items.some(mayBeOvertaken) ? [] : turnsAfter(items);
    if (turns.length === 0) return { settled: await settle(db, settlements), isReleased: false };
    const [settled, due] = await db.together(
      (one) => settle(one, settlements),
      (one) => releaseTurns(one, turns, orderHoldMs),
    );
    // They may be released, and only the response lost.
    options.notify(due.status === 'fulfilled' ? due.value : webhooksOf(turns));
    if (settled.status === 'rejected') throw settled.reason;
    return { settled: settled.value, isReleased: due.status === 'fulfilled' };
  };

  const settleOnceMoreIfLogged = async (error: unknown, settlements: Settlement[]) => {
    if (!isUniqueViolation(error)) throw error;
    return { settled: await settleOnceMore(db, settlements), isReleased: false };
  };

  const release = (items: Outcome[]) =>
    passTurnsOn(options, turnsOf(items.filter(mayBeOvertaken).map(({ claim }) => claim)), turnsAfter(items));

  const settleAll = async (items: Outcome[]) => {
    const settlements = items.map(({ settlement }) => settlement);
    const { settled, isReleased } = await settleAndRelease(items, settlements).catch((error: unknown) =>
      settleOnceMoreIfLogged(error, settlements),
    );
    const results = await resultsOf(db, settlements, settled);
    const earlier = items.filter((_, index) => results[index]!.kind === 'alreadySettled');
    if (earlier.length > 0) options.notify(webhooksOf(turnsAfter(earlier))); // the response that reported released turns was lost, too
    if (!isReleased) await release(items.filter((_, index) => results[index]!.kind !== 'lost'));
    return results;
  };

  return { settle: settleAll, release };
}

/** True if the delivery has failed and is still owed; a replay must have used an attempt of its schedule. */
const mayBeOvertaken = ({ claim: { supersedes, trigger }, settlement: { status } }: Outcome) =>
  supersedes && (status === 'RETRY' || (status === 'UNCHANGED' && trigger !== 'REPLAY'));

/** Releases skip rows that are locked, so what was sent by hand while it waited is looked at again. */
const mayRelease = ({ claim, settlement: { status } }: Outcome) =>
  status === 'SUCCEEDED' || status === 'FAILED' || claim.trigger === 'MANUAL';

const turnsAfter = (items: Outcome[]) =>
  distinctTurns(turnsOf(items.filter(mayRelease).map(({ claim }) => claim)));

export interface Retries {
  at(delayMs: number, due: Due): void;
  stop(): void;
}

const slotMs = 100;
const maxTimers = 1_000;
/** A retry due within this time always has a timer, however many others wait for hours. */
const soonMs = maxTimers * slotMs;
const maxTimeoutMs = 2 ** 31 - 1; // of setTimeout

/** If a retry gets no timer because there are too many, the sweeper finds it a second or two late. */
export function createRetries(notify: (due: Due[]) => void): Retries {
  const timers = new Map<number, { due: Due[]; timer: NodeJS.Timeout }>();
  return {
    at: (delayMs, due) => {
      const slot = Math.ceil((performance.now() + delayMs) / slotMs);
      const known = timers.get(slot);
      if (known) return void known.due.push(due);
      if ((timers.size >= maxTimers && delayMs > soonMs) || delayMs > maxTimeoutMs) return;
      const all = [due];
      const wake = () => {
        timers.delete(slot);
        notify(all);
      };
      const timer = setTimeout(wake, slot * slotMs - performance.now() + 1);
      timers.set(slot, { due: all, timer });
    },
    stop: () => {
      for (const { timer } of timers.values()) clearTimeout(timer);
      timers.clear();
    },
  };
}

/** `lost`: the claim was lost meanwhile, and the outcome does not count. */
export type SettlingResult =
  | { kind: 'settled'; /** When it is due again; null if it is finished. */ dueAt: Date | null }
  | { kind: 'alreadySettled' }
  | { kind: 'lost' };

/**
 * Results in the order of the settlements. Refused ones are looked up anew: `settle` did not see what was committed
 * meanwhile.
 */
export async function resultsOf(
  db: Database,
  settlements: Settlement[],
  settled: Map<string, Settled>,
): Promise<SettlingResult[]> {
  const counted = settlements.map(({ deliveryId, number }) => {
    const known = settled.get(deliveryId);
    return known?.number === number ? known : undefined;
  });
  const refused = settlements.filter((_, index) => counted[index] === undefined);
  const recorded = refused.length === 0 ? new Set<Settlement>() : await findRecorded(db, refused);
  return settlements.map((settlement, index): SettlingResult => {
    const known = counted[index];
    if (known) return { kind: 'settled', dueAt: known.dueAt };
    return { kind: recorded.has(settlement) ? 'alreadySettled' : 'lost' };
  });
}

const refusedRows = rowSet<Settlement>({
  shipper_id: ['uuid', ({ shipperId }) => shipperId],
  delivery_id: ['uuid', ({ deliveryId }) => deliveryId],
  number: ['int', ({ number }) => number],
  started_at: ['timestamptz', ({ startedAt }) => startedAt],
});

async function findRecorded(db: Database, refused: Settlement[]): Promise<Set<Settlement>> {
  const rows = await db.query<{ place: number }>(
    'find-recorded',
    `select r.place::int as place
       from ${refusedRows.as('r', 1, 'place')}
      where exists (select 1 from deliveries d
                     where d.shipper_id = r.shipper_id and d.delivery_id = r.delivery_id
                       and d.attempt_count >= r.number and d.started_at = r.started_at)
         or exists (select 1 from attempts a
                     where a.delivery_id = r.delivery_id and a.number = r.number and a.started_at = r.started_at
                       and a.duration_ms is not null)`,
    refusedRows.arrays(refused),
  );
  return new Set(rows.map(({ place }) => refused[place - 1]!));
}
