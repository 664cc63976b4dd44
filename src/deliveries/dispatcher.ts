import { setTimeout as sleep } from 'node:timers/promises';
import { describeError } from '../platform/errors.js';
import type { Metrics } from '../platform/metrics.js';
import type { Database } from '../platform/postgres.js';
import { sendClaim, type SendingOptions } from './attempt.js';
import { createClaimer } from './claimer.js';
import type { DeliveryQueue, DueDelivery } from './enqueue.js';
import { createFlights, type Flight } from './flights.js';
import { createSettler } from './settler.js';
import { createLanes } from './lanes.js';
import { createSlots, type Slots } from './slots.js';
import { releaseClaims, type Claim } from './store.js';
import { deferSweep, findDue, findDueOf, type DueCursor } from './sweep-store.js';
import { longestStartMs, sweepAfterMs } from './timing.js';
import { untilBack } from './until-back.js';

export interface DispatcherOptions extends SendingOptions {
  /** Records outcomes. */
  db: Database;
  /** Claims, leases and what is done again if it is lost. */
  leaseDb: Database;
  queue: DeliveryQueue;
  metrics: Metrics;
  concurrency: number;
  retryScheduleMs: readonly number[];
  orderHoldMs: number;
}

export interface Dispatcher {
  /** Handles one job: resolves when its deliveries are claimed and being sent, so a slow one holds up no job. */
  handle(job: { name: string; due: DueDelivery[] }): Promise<void>;
  /** Joins in with what another worker's full lane keeps waiting, if this one has room for it. */
  help(webhookId: string): Promise<void>;
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
/** Up to this share of the slots in use, an outcome may keep its slot a little longer. */
const fewSlots = 1 / 3;

/**
 * Claims, sends and records. A claim is a lease in PostgreSQL on one attempt number: whatever happens to this
 * process, the sweeper takes the delivery up again when the lease has run out, and a late result is refused.
 */
export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { leaseDb, logger, queue } = options;
  const slots = createSlots(options.concurrency);
  const slowSlots = createSlots(options.concurrency);
  const lanes = createLanes(options.concurrency);
  const flights = createFlights({
    leaseDb,
    logger,
    mostMoved: options.concurrency * movedFactor,
    onSlow: lanes.markSlow,
  });
  const claim = createClaimer({
    ...options,
    onClaimed: (claimed, issuedAt) => flights.begin(claimed, issuedAt, slots),
  });
  let draining = false;

  const settler = createSettler({
    ...options,
    slotsAbound: () => slots.inUse() < options.concurrency * fewSlots,
  });
  options.metrics.attemptSlots.set(options.concurrency);
  options.metrics.onScrape(() => options.metrics.attemptsInFlight.set(flights.count()));

  const attempt = async (claim: Claim, flight: Flight): Promise<number | null> => {
    // A claim that could not be sent soon is given back: whoever stops a webhook relies on this bound.
    if (performance.now() - flight.issuedAt > longestStartMs) {
      await releaseClaims(leaseDb, [claim]);
      return null;
    }
    flight.startedAt = performance.now();
    const outcome = await sendClaim(options, claim);
    await settler.settle(claim, outcome);
    return outcome.durationMs;
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
        flights.end(claim);
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
    if (lanes.wantsHelp(webhookId)) queue.askForHelp(webhookId);
  };

  /** Nobody else knows that there is more. */
  const pull = async (webhookId: string) => {
    const due = await untilBack(
      () => findDueOf(leaseDb, webhookId, pullLimit),
      () => !draining,
    );
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
    const claimed = await claim(due).catch((error: unknown) => {
      logFailure(error);
      return null;
    });
    const flight = claimed && flights.of(claimed);
    if (claimed && flight) {
      flight.slots = from;
      start(claimed, flight);
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
    help: async (webhookId) => {
      if (!draining && lanes.hasRoom(webhookId)) await pull(webhookId);
    },
    handle: (job) => (job.name === 'wake' ? wake() : dispatch(job.due)),
    drain: async () => {
      draining = true;
      settler.hurry();
      const waiting = lanes.emptyWaiting();
      if (waiting.length > 0) await deferSweep(leaseDb, waiting, 0).catch(logFailure);
      while (flights.count() > 0 || slots.inUse() > 0 || slowSlots.inUse() > 0) await sleep(drainPollMs);
      flights.stopWatching();
      await settler.flushed();
      flights.stop();
    },
  };
}
