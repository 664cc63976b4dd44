import { setTimeout as sleep } from 'node:timers/promises';
import { describeError } from '../../platform/errors.js';
import type { Metrics } from '../../platform/metrics.js';
import type { Database } from '../../platform/database/postgres.js';
import type { HandOver, Room } from '../outbox/hand-over.js';
import type { Targets } from '../send/targets.js';
import type { Times } from '../times.js';
import type { Claim, Unattended } from '../outbox/types.js';
import { sendClaim, type SendingOptions } from '../send/request.js';
import { createBudget } from './lanes/budget.js';
import { createGiveBacks } from './give-backs.js';
import { createHeldClaims } from './held-claims.js';
import { createLanes, type Lane } from './lanes/lanes.js';
import { createSlots, type Slot } from './lanes/slots.js';
import { createPuller } from './puller.js';
import { createRecorder, type RecorderOptions } from '../record/recorder.js';
import { createReservations } from './lanes/reservations.js';
import { createWaitingRoom } from './lanes/waiting-room.js';
import { createWakes } from './wakes.js';

export interface DispatcherOptions
  extends
    SendingOptions,
    Omit<RecorderOptions, 'look' | 'lookAhead' | 'wakeAt' | 'onNotCallable' | 'leisure'> {
  /** Claims, leases and what is done again if it is lost. */
  leaseDb: Database;
  metrics: Metrics;
  targets: Targets;
  times: Times;
  concurrency: number;
  /** Told of webhooks that others must see to, because this process stops. */
  onLeft(webhookIds: string[]): void;
}

export interface Dispatcher extends HandOver {
  /** As `look`, of what a statement made due that was sent at `issuedAt` (performance.now()). */
  lookAhead(webhookIds: string[], issuedAt: number): void;
  /** As `look`, where it is known since when it has been due. */
  lookFrom(unattended: Unattended[]): void;
  /** Sends what is claimed already; `issuedAt` of performance.now(), before the claiming statement was sent. */
  accept(claims: Claim[], issuedAt: number): void;
  /**
   * Deliveries recorded just now beyond what their lanes begin at once, but not those of slow lanes, nor what is caught
   * up on; 0 while no attempt comes to an end, for then it is not this process they wait for.
   */
  pressure(): number;
  /** Claims nothing more; resolves when every attempt under way has been recorded, and every reservation is released. */
  drain(): Promise<void>;
}

const drainPollMs = 10;
const stalledAfterMs = 300;
/** Slow attempts that have given up their slot, as a multiple of the slots. */
const movedFactor = 5;

/**
 * Sends and records. A claim is a lease in PostgreSQL on one attempt number: whatever happens to this process, the
 * sweeper takes the delivery up again when the lease has run out, and a late result is refused.
 */
export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { leaseDb, logger, times, concurrency } = options;
  const lanes = createLanes(concurrency, times.slowMs);
  const slots = createSlots(concurrency);
  const waitingRoom = createWaitingRoom();
  let draining = false;
  let lastEndAt = 0;

  const held = createHeldClaims({
    leaseDb,
    logger,
    times,
    mostMoved: concurrency * movedFactor,
    onSlow: ({ webhookId }, slot) => {
      const lane = lanes.of(webhookId);
      lanes.slowDown(lane);
      slots.give(slot);
      returnWaiting([lane]); // they would wait long, and keep others waiting
      pump();
      puller.wake(); // slow lanes have slots of their own
    },
  });
  const budget = createBudget({
    concurrency,
    lanes,
    slots,
    waiting: waitingRoom.size,
    promised: () => reservations.total(),
  });
  const reservations = createReservations({ lanes, budget });
  const puller = createPuller({
    leaseDb,
    logger,
    metrics: options.metrics,
    lanes,
    leaseMs: times.leaseMs,
    budget,
    onClaimed: (claims, issuedAt) => accept(claims, issuedAt),
  });
  // A retry was there before it was due: no page has passed over it.
  const wakes = createWakes((webhookIds) => puller.lookAhead(webhookIds, performance.now()));
  const recorder = createRecorder({
    ...options,
    look: puller.look,
    lookAhead: puller.lookAhead,
    wakeAt: wakes.at,
    onNotCallable: (webhookIds) =>
      returnWaiting(webhookIds.map(lanes.of).filter((lane) => !lane.waiting.some(({ isProbe }) => isProbe))),
    leisure: () => slots.inUse() < concurrency / 3,
  });
  options.metrics.attemptSlots.set(concurrency);
  options.metrics.onScrape(() => {
    let underWay = 0;
    for (const { active } of lanes.all()) underWay += active;
    options.metrics.attemptsInFlight.set(underWay);
  });

  const accept = (claims: Claim[], issuedAt: number, isNew = false) => {
    for (const claim of claims) {
      const lane = lanes.of(claim.webhookId);
      lanes.note(lane, claim.shipperId);
      held.begin(claim, issuedAt);
      waitingRoom.enter(lane, claim, issuedAt, isNew);
      slots.queue(lane);
    }
    if (draining) returnWaiting(lanes.all());
    else pump();
  };

  const pump = () => {
    for (let next = slots.next(); next; next = slots.next()) {
      const { claim, issuedAt } = waitingRoom.leave(next.lane);
      start(next.lane, claim, issuedAt, next.slot);
    }
  };

  const start = (lane: Lane, claim: Claim, issuedAt: number, slot: Slot) => {
    lane.active += 1;
    budget.started();
    held.start(claim, slot);
    let durationMs: number | null = null;
    attempt(claim, issuedAt)
      .then((ms) => (durationMs = ms))
      .catch((error: unknown) =>
        logger.error(
          { deliveryId: claim.deliveryId, attempt: claim.number, error: describeError(error) },
          'attempt not recorded; it will be taken up again',
        ),
      )
      .finally(() => {
        lastEndAt = performance.now();
        const kept = held.end(claim);
        if (kept) slots.give(kept);
        lane.active -= 1;
        lanes.adapt(lane, durationMs);
        if (lane.waiting.length > 0) slots.queue(lane);
        if (draining) return;
        pump();
        puller.offer(lane);
      });
  };

  const attempt = async (claim: Claim, issuedAt: number): Promise<number | null> => {
    const target = await options.targets.of(claim).catch(logFailure);
    const outcome = target ? await sendClaim(options, claim, target, issuedAt) : null;
    if (!target || !outcome) {
      await giveBack(claim);
      puller.look([claim.webhookId]);
      return null;
    }
    await recorder.record(claim, target.storedAddress, outcome);
    return outcome.durationMs;
  };

  const giveBack = createGiveBacks({ ...options, isDraining: () => draining, look: puller.look });

  const logFailure = (error: unknown) =>
    void logger.warn({ error: describeError(error) }, 'claims not sent; they will be taken up again');

  const returnWaiting = (those: Iterable<Lane>): void => {
    for (const lane of those) {
      while (lane.waiting.length > 0) {
        const { claim } = waitingRoom.leave(lane);
        giveBack(claim)
          .catch(logFailure)
          .finally(() => {
            held.end(claim);
            puller.look([lane.webhookId]); // the pages have passed over it
          });
      }
    }
  };

  /** What a stopping process is told of goes to the others: requests and jobs may come to their ends after it has drained. */
  const hereOrElsewhere = (webhookIds: string[], here: () => void) =>
    draining ? options.onLeft(webhookIds) : here();

  return {
    accept,
    pressure: () => (performance.now() - lastEndAt < stalledAfterMs ? waitingRoom.pressure() : 0),
    reserve: (shipperIds) => (draining ? reservations.none : reservations.reserve(shipperIds)),
    owed: (room: Room, claims, dueWebhooks, issuedAt) => {
      reservations.release(room);
      puller.wake(); // a lane may have found no room because of it
      accept(claims, issuedAt, true);
      for (const webhookId of dueWebhooks) waitingRoom.leftOutside(lanes.of(webhookId));
      const distinct = [...new Set(dueWebhooks)];
      hereOrElsewhere(distinct, () => puller.lookAhead(distinct, issuedAt));
    },
    look: (webhookIds) => hereOrElsewhere(webhookIds, () => puller.look(webhookIds)),
    lookAhead: (webhookIds, issuedAt) =>
      hereOrElsewhere(webhookIds, () => puller.lookAhead(webhookIds, issuedAt)),
    lookFrom: puller.lookFrom,
    drain: async () => {
      draining = true;
      recorder.hurry();
      wakes.stop();
      await puller.stop();
      returnWaiting(lanes.all());
      while (held.count() > 0 || reservations.areOpen()) await sleep(drainPollMs);
      held.stopWatching();
      await recorder.flushed();
      options.onLeft(puller.unserved()); // with that, a circuit may have closed
      held.stop();
    },
  };
}
