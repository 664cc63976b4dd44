import { setTimeout as sleep } from 'node:timers/promises';
import { createBatcher } from '../platform/batch.js';
import { describeError } from '../platform/errors.js';
import type { Logger } from '../platform/logger.js';
import type { Metrics } from '../platform/metrics.js';
import type { Database } from '../platform/postgres.js';
import type { SecretBox } from '../webhooks/secrets.js';
import { requestOf } from './attempt.js';
import type { DeliveryQueue, DueDelivery } from './enqueue.js';
import type { SendOutcome, SendRequest } from './send.js';
import { createSettler } from './settler.js';
import { createLanes, slowMs } from './lanes.js';
import { createSlots, type Slots } from './slots.js';
import { claimDeliveries, parkDeliveries, releaseClaims, renewLeases, type Claim } from './store.js';
import { deferSweep, findDue, findDueOf, type DueCursor } from './sweep-store.js';
import { leaseMs, longestStartMs, sweepAfterMs } from './timing.js';

export interface DispatcherOptions {
  /** Records outcomes. */
  db: Database;
  /** Claims, leases and what is done again if it is lost. */
  leaseDb: Database;
  secrets: SecretBox;
  send(request: SendRequest): Promise<SendOutcome>;
  queue: DeliveryQueue;
  logger: Logger;
  metrics: Metrics;
  concurrency: number;
  timeoutMs: number;
  retryScheduleMs: readonly number[];
  orderHoldMs: number;
  userAgent: string;
}

export interface Dispatcher {
  /** Handles one job: resolves when its deliveries are claimed and being sent, so a slow one holds up no job. */
  handle(job: { name: string; due: DueDelivery[] }): Promise<void>;
  /** Claims nothing more; resolves when every attempt under way has been recorded. */
  drain(): Promise<void>;
}

const wakeLimit = 500;
const pullLimit = 200;
const drainPollMs = 10;
/** How long the sweeper leaves alone what a full lane turned away: the lane itself comes back for it. */
const turnedAwayMs = 120_000;
/** Slow attempts that have given up their slot, as a multiple of the slots. */
const movedFactor = 5;

const unsent = (startedAt: Date): SendOutcome => ({
  ok: false,
  statusCode: null,
  errorCode: 'PROTOCOL',
  responseBody: null,
  durationMs: 0,
  retryAfter: null,
  startedAt,
});

/** An attempt under way. Times are of performance.now(). */
interface Flight {
  webhookId: string;
  issuedAt: number;
  startedAt: number;
  slots: Slots;
  moved: boolean;
}

/**
 * Claims, sends and records. A claim is a lease in PostgreSQL on one attempt number: whatever happens to this
 * process, the sweeper takes the delivery up again when the lease has run out, and a late result is refused.
 */
export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { leaseDb, logger } = options;
  const slots = createSlots(options.concurrency);
  const slowSlots = createSlots(options.concurrency);
  const lanes = createLanes(options.concurrency);
  const inFlight = new Map<Claim, Flight>();
  let moved = 0;
  let draining = false;

  const claims = createBatcher<DueDelivery, Claim | null>({
    maxItems: 200,
    concurrency: 2,
    maxWaiting: 10_000,
    onFlush: (items) => options.metrics.batchSize.observe({ batch: 'claims' }, items),
    flush: async (due) => {
      const issuedAt = performance.now();
      const claimed = new Map(
        (await claimDeliveries(leaseDb, due, leaseMs, options.orderHoldMs)).map((claim) => [
          claim.deliveryId,
          claim,
        ]),
      );
      for (const claim of claimed.values()) {
        const { webhookId } = claim;
        inFlight.set(claim, { webhookId, issuedAt, startedAt: issuedAt, slots, moved: false });
      }
      const ids = due.map(({ deliveryId }) => deliveryId);
      const unclaimed = ids.filter((id) => !claimed.has(id));
      // What cannot be parked now is found again by the sweeper; the claims stand, and must be sent or given back.
      if (unclaimed.length > 0)
        void parkDeliveries(leaseDb, unclaimed, options.orderHoldMs).catch((error: unknown) =>
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

  const settler = createSettler(options);
  options.metrics.attemptSlots.set(options.concurrency);
  options.metrics.onScrape(() => options.metrics.attemptsInFlight.set(inFlight.size));

  const renewal = setInterval(() => {
    const old = [...inFlight].flatMap(([claim, { issuedAt }]) =>
      performance.now() - issuedAt > leaseMs / 5 ? [claim] : [],
    );
    if (old.length === 0) return;
    renewLeases(leaseDb, old, leaseMs).catch((error: unknown) =>
      logger.warn({ error: describeError(error) }, 'leases not renewed'),
    );
  }, leaseMs / 4);

  /** An attempt that takes long gives its slot to others; its lane counts as slow from now on. */
  const moveSlow = () => {
    for (const flight of inFlight.values()) {
      if (
        flight.moved ||
        performance.now() - flight.startedAt < slowMs ||
        moved >= options.concurrency * movedFactor
      )
        continue;
      flight.moved = true;
      moved += 1;
      lanes.markSlow(flight.webhookId);
      flight.slots.give(1);
    }
  };
  const watching = setInterval(moveSlow, slowMs / 4);

  const attempt = async (claim: Claim, flight: Flight): Promise<number | null> => {
    // A claim that could not be sent soon is given back: whoever stops a webhook relies on this bound.
    if (performance.now() - flight.issuedAt > longestStartMs) {
      await releaseClaims(leaseDb, [claim]);
      return null;
    }
    flight.startedAt = performance.now();
    const outcome = await sendClaim(claim);
    await settler.settle(claim, outcome);
    return outcome.durationMs;
  };

  /** What cannot even be sent (its secret does not open) is an attempt that failed: it is not tried for ever. */
  const sendClaim = async (claim: Claim): Promise<SendOutcome> => {
    try {
      return await options.send(requestOf(claim, options.secrets, options.timeoutMs, options.userAgent));
    } catch (error) {
      logger.error({ deliveryId: claim.deliveryId, error: describeError(error) }, 'notification not made');
      return unsent(new Date());
    }
  };

  const start = (claim: Claim, flight: Flight) => {
    let durationMs: number | null = null;
    attempt(claim, flight)
      .then((ms) => (durationMs = ms))
      .catch((error: unknown) => {
        logger.error(
          { deliveryId: claim.deliveryId, attempt: claim.number, error: describeError(error) },
          'attempt not recorded; it will be taken up again',
        );
      })
      .finally(() => {
        inFlight.delete(claim);
        if (flight.moved) moved -= 1;
        else flight.slots.give(1);
        leave(claim.webhookId, durationMs);
      });
  };

  /** Makes room in a lane, and fills it with what waited there or, once that is used up, with what PostgreSQL kept. */
  const leave = (webhookId: string, durationMs: number | null) => {
    lanes.leave(webhookId, durationMs);
    if (draining) return;
    const next = lanes.admitWaiting(webhookId).map((deliveryId) => ({ deliveryId, webhookId }));
    if (next.length > 0) void run(next, lanes.isSlow(webhookId) ? slowSlots : slots).catch(logFailure);
    if (lanes.wantsMore(webhookId)) void pull(webhookId).catch(logFailure);
  };

  const pull = async (webhookId: string) => {
    const due = await findDueOf(leaseDb, webhookId, pullLimit);
    if (due.length === pullLimit) lanes.expectMore(webhookId);
    await dispatch(due);
  };

  const logFailure = (error: unknown) => logger.warn({ error: describeError(error) }, 'not dispatched');

  /** Claims and starts deliveries that have their places in their lanes, as slots come free. */
  const run = async (due: DueDelivery[], from: Slots): Promise<void> => {
    let next = 0;
    while (next < due.length && !draining) {
      const taken = await from.take(due.length - next);
      if (draining) {
        from.give(taken);
        break;
      }
      const slice = due.slice(next, next + taken);
      next += taken;
      await Promise.all(slice.map((delivery) => claimAndStart(delivery, from)));
    }
    if (next < due.length) await deferSweep(leaseDb, due.slice(next), 0); // we stop: the next sweep, of any process
  };

  const claimAndStart = async (due: DueDelivery, from: Slots): Promise<void> => {
    const claim = await claims.add(due).catch((error: unknown) => {
      logFailure(error);
      return null;
    });
    const flight = claim && inFlight.get(claim);
    if (claim && flight) {
      flight.slots = from;
      start(claim, flight);
    } else {
      from.give(1);
      leave(due.webhookId, null);
    }
  };

  /** Resolves when what may start now has been started: neither a full lane nor a slow one holds up a job. */
  const dispatch = async (due: DueDelivery[]): Promise<void> => {
    const quick: DueDelivery[] = [];
    const slow: DueDelivery[] = [];
    const turnedAway: DueDelivery[] = [];
    for (const delivery of due) {
      const { webhookId, deliveryId } = delivery;
      if (lanes.enter(webhookId)) (lanes.isSlow(webhookId) ? slow : quick).push(delivery);
      else if (!lanes.wait(webhookId, deliveryId)) turnedAway.push(delivery);
    }
    if (slow.length > 0) void run(slow, slowSlots).catch(logFailure);
    await Promise.all([
      run(quick, slots),
      turnedAway.length > 0 && deferSweep(leaseDb, turnedAway, turnedAwayMs),
    ]);
  };

  const wake = async () => {
    let page: (DueDelivery & DueCursor)[] = [];
    do {
      page = await findDue(leaseDb, sweepAfterMs, page.at(-1) ?? null, wakeLimit);
      await dispatch(page);
    } while (page.length === wakeLimit && !draining);
  };

  return {
    handle: (job) => (job.name === 'wake' ? wake() : dispatch(job.due)),
    drain: async () => {
      draining = true;
      const waiting = lanes.emptyWaiting();
      if (waiting.length > 0) await deferSweep(leaseDb, waiting, 0).catch(logFailure);
      while (inFlight.size > 0 || slots.inUse() > 0 || slowSlots.inUse() > 0) await sleep(drainPollMs);
      clearInterval(watching);
      await settler.flushed();
      clearInterval(renewal);
    },
  };
}
