import pRetry from 'p-retry';
import { createBatcher } from '../platform/batch.js';
import { describeError } from '../platform/errors.js';
import type { Logger } from '../platform/logger.js';
import type { Database } from '../platform/postgres.js';
import type { SecretBox } from '../webhooks/secrets.js';
import { requestOf, settlementOf } from './attempt.js';
import type { DeliveryQueue } from './enqueue.js';
import type { SendOutcome, SendRequest } from './send.js';
import { createSlots } from './slots.js';
import {
  claimDeliveries,
  parkDeliveries,
  releaseClaims,
  renewLeases,
  settleDeliveries,
  type Claim,
  type Settlement,
} from './store.js';
import { findDue, leaveToSweeper } from './sweep-store.js';
import { leaseMs, longestStartMs, sweepAfterMs } from './timing.js';

export interface DispatcherOptions {
  db: Database;
  secrets: SecretBox;
  send(request: SendRequest): Promise<SendOutcome>;
  queue: DeliveryQueue;
  logger: Logger;
  concurrency: number;
  timeoutMs: number;
  retryScheduleMs: readonly number[];
  userAgent: string;
}

export interface Dispatcher {
  /** Handles one job: resolves when its deliveries are claimed and being sent, so a slow one holds up no job. */
  handle(job: { name: string; ids: string[] }): Promise<void>;
  inFlight(): number;
  /** Claims nothing more; resolves when every attempt under way has been recorded. */
  drain(): Promise<void>;
}

const wakeLimit = 500;

/**
 * Claims, sends and records. A claim is a lease in PostgreSQL on one attempt number: whatever happens to this
 * process, the sweeper takes the delivery up again when the lease has run out, and a late result is refused.
 */
export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { db, logger } = options;
  const slots = createSlots(options.concurrency);
  const inFlight = new Map<Claim, number>();
  let draining = false;

  const claims = createBatcher<string, Claim | null>({
    maxItems: 200,
    concurrency: 2,
    maxWaiting: 10_000,
    flush: async (ids) => {
      const issuedAt = performance.now();
      const claimed = new Map(
        (await claimDeliveries(db, ids, leaseMs)).map((claim) => [claim.deliveryId, claim]),
      );
      for (const claim of claimed.values()) inFlight.set(claim, issuedAt);
      const unclaimed = ids.filter((id) => !claimed.has(id));
      // What cannot be parked now is found again by the sweeper; the claims stand, and must be sent or given back.
      if (unclaimed.length > 0)
        await parkDeliveries(db, unclaimed).catch((error: unknown) =>
          logger.warn({ error: describeError(error) }, 'not parked'),
        );
      // An id that came twice in one batch is one claim.
      return ids.map((id) => {
        const claim = claimed.get(id) ?? null;
        claimed.delete(id);
        return claim;
      });
    },
  });

  const settlements = createBatcher<Settlement, boolean>({
    maxItems: 200,
    concurrency: 2,
    maxWaiting: 10_000,
    flush: async (batch) => {
      const settled = await settleDeliveries(db, batch, sweepAfterMs);
      return batch.map((settlement) => settled.has(settlement.deliveryId));
    },
  });

  const renewal = setInterval(() => {
    const old = [...inFlight].flatMap(([claim, issuedAt]) =>
      performance.now() - issuedAt > leaseMs / 5 ? [claim] : [],
    );
    if (old.length === 0) return;
    renewLeases(db, old, leaseMs).catch((error: unknown) =>
      logger.warn({ error: describeError(error) }, 'leases not renewed'),
    );
  }, leaseMs / 4);

  const attempt = async (claim: Claim): Promise<void> => {
    // A claim that could not be sent soon is given back: whoever stops a webhook relies on this bound.
    if (performance.now() - (inFlight.get(claim) ?? 0) > longestStartMs) return releaseClaims(db, [claim]);
    const outcome = await options.send(
      requestOf(claim, options.secrets, options.timeoutMs, options.userAgent),
    );
    const settlement = settlementOf(claim, outcome, options.retryScheduleMs);
    const accepted = await pRetry(() => settlements.add(settlement), {
      retries: 4,
      minTimeout: 250,
      factor: 2,
    });
    if (accepted && settlement.delayMs !== null)
      options.queue.wakeAt(new Date(Date.now() + settlement.delayMs));
    logAttempt(logger, claim, settlement, accepted);
  };

  const start = (claim: Claim) => {
    attempt(claim)
      .catch((error: unknown) => {
        logger.error(
          { deliveryId: claim.deliveryId, attempt: claim.number, error: describeError(error) },
          'attempt not recorded; it will be taken up again',
        );
      })
      .finally(() => {
        inFlight.delete(claim);
        slots.give(1);
      });
  };

  const dispatch = async (ids: string[]) => {
    let from = 0;
    while (from < ids.length && !draining) {
      const taken = await slots.take(ids.length - from);
      if (draining) {
        slots.give(taken);
        break;
      }
      const slice = ids.slice(from, from + taken);
      from += taken;
      await Promise.all(
        slice.map(async (id) => {
          const claim = await claims.add(id).catch((error: unknown) => {
            slots.give(1);
            throw error;
          });
          if (claim) start(claim);
          else slots.give(1);
        }),
      );
    }
    if (from < ids.length) await leaveToSweeper(db, ids.slice(from));
  };

  const wake = async () => {
    let due: string[];
    do {
      due = await findDue(db, sweepAfterMs, wakeLimit);
      await dispatch(due);
    } while (due.length === wakeLimit && !draining);
  };

  return {
    handle: (job) => (job.name === 'wake' ? wake() : dispatch(job.ids)),
    inFlight: () => slots.inUse(),
    drain: async () => {
      draining = true;
      await slots.idle();
      clearInterval(renewal);
    },
  };
}

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
