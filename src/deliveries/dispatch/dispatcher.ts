import { setTimeout as sleep } from 'node:timers/promises';
import { describeError } from '../../platform/errors.js';
import type { Metrics } from '../../platform/metrics.js';
import type { Database } from '../../platform/database/postgres.js';
import type { HandOver, Room } from '../outbox/hand-over.js';
import type { Targets } from '../outbox/targets.js';
import type { Times } from '../outbox/times.js';
import type { Claim, Unattended } from '../outbox/types.js';
import { sendClaim, type SendingOptions } from '../send/request.js';
import { createBudget } from './lanes/budget.js';
import { createGiveBacks } from './give-backs.js';
import { createAttempts } from './in-flight.js';
import { createLanes, type Lane } from './lanes/lanes.js';
import { createPlaces, type Place } from './lanes/places.js';
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
/** Slow attempts that have given up their place, as a multiple of the places. */
const movedFactor = 5;

/**
 * Sends and records. A claim is a lease in PostgreSQL on one attempt number: whatever happens to this process, the
 * sweeper takes the delivery up again when the lease has run out, and a late result is refused.
 */
export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { leaseDb, logger, times, concurrency } = options;
  const lanes = createLanes(concurrency, times.slowMs);
  const places = createPlaces(concurrency);
  const waitingRoom = createWaitingRoom();
  let draining = false;
  let lastEndAt = 0;

  const attempts = createAttempts({
    leaseDb,
    logger,
    times,
    mostMoved: concurrency * movedFactor,
    onSlow: ({ webhookId }, place) => {
      const lane = lanes.of(webhookId);
      lanes.slowDown(lane);
      places.give(place);
      returnWaiting([lane]); // they would wait long, and keep others waiting
      pump();
      puller.wake(); // slow lanes have places of their own
    },
  });
  const budget = createBudget({
    concurrency,
    lanes,
    places,
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
  const wakes = createWakes((ids) => puller.lookAhead(ids, performance.now())); // it was there before it was due: no page has passed over it
  const recorder = createRecorder({
    ...options,
    look: puller.look,
    lookAhead: puller.lookAhead,
    wakeAt: wakes.at,
    onNotCallable: (webhookIds) =>
      returnWaiting(webhookIds.map(lanes.of).filter((lane) => !lane.waiting.some(({ isProbe }) => isProbe))),
    leisure: () => places.inUse() < concurrency / 3,
  });
  options.metrics.attemptSlots.set(concurrency);
  options.metrics.onScrape(() => options.metrics.attemptsInFlight.set(attempts.count() - waitingRoom.size()));

  const accept = (claims: Claim[], issuedAt: number, isNew = false) => {
    for (const claim of claims) {
      const lane = lanes.of(claim.webhookId);
      lanes.note(lane, claim.shipperId);
      attempts.begin(claim, issuedAt);
      waitingRoom.enter(lane, claim, issuedAt, isNew);
      places.queue(lane);
    }
    if (draining) returnWaiting(lanes.all());
    else pump();
  };

  const pump = () => {
    for (let turn = places.next(); turn; turn = places.next()) {
      const { claim, issuedAt } = waitingRoom.leave(turn.lane);
      start(turn.lane, claim, issuedAt, turn.place);
    }
  };

  const start = (lane: Lane, claim: Claim, issuedAt: number, place: Place) => {
    lane.active += 1;
    budget.started();
    attempts.start(claim, place);
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
        const kept = attempts.end(claim);
        if (kept) places.give(kept);
        lane.active -= 1;
        lanes.adapt(lane, durationMs);
        if (lane.waiting.length > 0) places.queue(lane);
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
            attempts.end(claim);
            puller.look([lane.webhookId]); // the pages have passed over it
          });
      }
    }
  };

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
      if (draining) options.onLeft(distinct);
      else puller.lookAhead(distinct, issuedAt);
    },
    look: puller.look,
    lookAhead: puller.lookAhead,
    lookFrom: puller.lookFrom,
    drain: async () => {
      draining = true;
      recorder.hurry();
      wakes.stop();
      await puller.stop();
      returnWaiting(lanes.all());
      while (attempts.count() > 0 || reservations.areOpen()) await sleep(drainPollMs);
      attempts.stopWatching();
      await recorder.flushed();
      options.onLeft(puller.unserved()); // with that, a circuit may have closed
      attempts.stop();
    },
  };
}
