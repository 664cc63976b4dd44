import { describeError } from '../platform/errors.js';
import type { Logger } from '../platform/logger.js';
import type { Producer } from '../platform/queue.js';
import { noteAttempt } from './attempt-metrics.js';
import { isGone, sendClaim, type SendingOptions } from './attempt.js';
import { reportSuccess } from './circuit-report.js';
import { claimManual, releaseManual, settleManual, type ManualResult } from './manual-store.js';
import { dropVoidManual, findManualWaiting, takeLapsedManual } from './manual-sweep-store.js';
import { disableGone, type NoticeDependencies } from './notice.js';
import { finishedOf, releaseNext } from './order-store.js';
import { createSlots } from './slots.js';
import type { Claim } from './store.js';
import { leaseMs, longestStartMs, sweepAfterMs } from './timing.js';
import { untilBack } from './until-back.js';

const inFlightMax = 50;
const inFlightPerWebhook = 5;
const lapsedPerSweep = 100;

export type UnscheduledOptions = SendingOptions & NoticeDependencies;

export interface ManualSender {
  /** Claims and sends manual attempts; resolves when they are under way. What finds no room waits for the sweep. */
  handle(deliveryIds: string[]): Promise<void>;
  /** Takes up what no job came for and whose process is gone. */
  sweep(): Promise<void>;
  drain(): Promise<void>;
}

/** No attempt outside the schedule lasts longer, so its lease needs no renewal; it leaves time to record the outcome. */
export const manualLeaseMs = (timeoutMs: number): number => timeoutMs + leaseMs;
/** While PostgreSQL is away an outcome is kept as long as its lease surely holds. */
const patienceMs = leaseMs - longestStartMs;

/**
 * Sends once what was asked for by hand, beside the scheduled attempts: it waits for no turn, takes nothing from
 * the retry schedule and has room of its own, of which one webhook gets a part only.
 */
export function createManualSender(options: UnscheduledOptions): ManualSender {
  const { db, queue, logger } = options;
  const slots = createSlots(inFlightMax);
  const perWebhook = new Map<string, number>();
  const leaseMs = manualLeaseMs(options.timeoutMs);
  let draining = false;

  const attempt = async (claim: Claim, claimedAt: number): Promise<void> => {
    const late = performance.now() - claimedAt > longestStartMs;
    if (late || (perWebhook.get(claim.webhookId) ?? 0) > inFlightPerWebhook)
      return releaseManual(db, claim, sweepAfterMs);
    const settled = await sendOnce(options, claim);
    if (settled?.due) queue.enqueue([settled]);
    if (settled?.succeeded) queue.enqueue(await releaseNext(db, finishedOf(claim), sweepAfterMs));
  };

  const start = (claim: Claim, claimedAt: number) => {
    perWebhook.set(claim.webhookId, (perWebhook.get(claim.webhookId) ?? 0) + 1);
    attempt(claim, claimedAt)
      .catch((error: unknown) =>
        logger.error(
          { deliveryId: claim.deliveryId, error: describeError(error) },
          'manual attempt not recorded',
        ),
      )
      .finally(() => {
        const left = (perWebhook.get(claim.webhookId) ?? 1) - 1;
        if (left > 0) perWebhook.set(claim.webhookId, left);
        else perWebhook.delete(claim.webhookId);
        slots.give(1);
      });
  };

  const handle = async (deliveryIds: string[]) => {
    const ids = deliveryIds.slice(0, inFlightMax - slots.inUse());
    if (draining || ids.length === 0) return;
    await slots.take(ids.length);
    const claimedAt = performance.now();
    let claims: Claim[] = [];
    try {
      claims = await claimManual(db, ids, leaseMs);
    } finally {
      slots.give(ids.length - claims.length);
    }
    for (const claim of claims) start(claim, claimedAt);
  };

  return {
    handle,
    sweep: async () => {
      await dropVoidManual(db);
      const lost = await takeLapsedManual(db, { leaseMs, graceMs: sweepAfterMs, limit: lapsedPerSweep });
      if (lost > 0) logger.info({ deliveries: lost }, 'attempts outside the schedule were lost');
      await handle(await findManualWaiting(db, inFlightPerWebhook, inFlightMax));
    },
    drain: async () => {
      draining = true;
      await slots.idle();
    },
  };
}

/**
 * Sends a claimed attempt outside the schedule and records it. For the circuit its success counts, its failure does
 * not. Null if its claim was taken away meanwhile.
 */
export async function sendOnce(options: UnscheduledOptions, claim: Claim) {
  const outcome = await sendClaim(options, claim);
  if (isGone(outcome)) await disableUnlessAway(options, claim);
  const result: ManualResult = {
    deliveryId: claim.deliveryId,
    number: claim.number,
    trigger: claim.trigger,
    succeeded: outcome.ok,
    startedAt: outcome.startedAt,
    durationMs: outcome.durationMs,
    statusCode: outcome.statusCode,
    errorCode: outcome.errorCode,
    responseBody: outcome.responseBody,
  };
  const giveUpAt = performance.now() + patienceMs;
  const settled = await untilBack(
    () => settleManual(options.db, result, sweepAfterMs),
    () => performance.now() < giveUpAt,
  );
  noteAttempt(options.metrics, claim, result);
  if (settled && outcome.ok && claim.troubled) await reportSuccess(options, claim.webhookId);
  const { deliveryId, webhookId, number, trigger } = claim;
  const { statusCode, errorCode, durationMs } = outcome;
  options.logger.info(
    {
      deliveryId,
      webhookId,
      attempt: number,
      trigger,
      statusCode,
      errorCode,
      durationMs,
      accepted: !!settled,
    },
    'attempt',
  );
  return settled && { ...settled, succeeded: outcome.ok };
}

/** The outcome is worth recording even if this is not: the next attempt is told the same. */
const disableUnlessAway = (options: UnscheduledOptions, claim: Claim) =>
  disableGone(options, [claim]).catch((error: unknown) =>
    options.logger.warn({ webhookId: claim.webhookId, error: describeError(error) }, 'not disabled yet'),
  );

/** Makes a worker send manual attempts at once; without the queue the next sweep does. */
export const createManualQueue =
  (producer: Producer, logger: Logger) =>
  (deliveryId: string): void => {
    producer
      .add([{ name: 'manual', id: `m-${deliveryId}-${Date.now()}`, ids: [deliveryId] }])
      .catch((error: unknown) =>
        logger.warn({ error: describeError(error) }, 'not enqueued; the sweeper will see to it'),
      );
  };
