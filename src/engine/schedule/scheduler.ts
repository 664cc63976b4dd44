import { createFairQueue, type FairQueue } from '../../platform/limits/fair-queue.js';
import type { HeldBack } from '../outbox/sendable.js';
import { noRoom, type Due, type Room, type DueClaim } from '../outbox/types.js';
import {
  beginPage,
  createClaims,
  createLanes,
  eachPool,
  endPage,
  isBehind,
  laneLimits,
  noteDue,
  pools,
  type InFlight,
  type Kind,
  type Lane,
  type Pool,
} from './lanes.js';
import { createPlaces, noCounts, passedOverMs, type Budget } from './places.js';
import { createWaits } from './waits.js';

/**
 * Decides which delivery starts, which lane is pulled and which claims are given back. It is pure: no I/O, no timers,
 * and the clock is passed in (`nowMs`: performance.now()).
 *
 * A claim is in one of three states:
 *
 *   state      enters by                           leaves by
 *   pending    claimed(): a page, or a recording   starts(): there is a place in its pool, its lane is below its
 *                                                  limit, and it is the lane's longest due
 *                                                  slow(), returnPending(), stop(): its lane became slow, its
 *                                                  webhook is not called, or the process stops
 *   in flight  starts()                            ended(); after slowMs, slow() moves it to the slow pool
 *   returning  slow(), returnPending(), stop()     ended(), once PostgreSQL has it back
 *
 * Three pools, each with places of its own, so that none waits for another's receivers:
 *
 *   pool       webhooks                            places                 a lane's limit
 *   unknown    no attempt has ended yet            concurrency            a twentieth of the concurrency
 *   quick      the last attempt was quick          concurrency            doubles up to half of the concurrency
 *   slow       the last attempt lasted slowMs      5 × concurrency        grows to a tenth of the concurrency
 *
 * The limit of a lane that becomes slow is what it has in flight, but at least half of that tenth. It grows by one each
 * slowMs, so that the attempts at many receivers that hang neither start nor time out at the same moment.
 *
 * A free place goes to the next shipper in rotation (first to one with less than a tenth of the pool), then to that
 * shipper's next lane, then to that lane's longest due.
 * A delivery that does not start waits for a place (its pool is full, or its shipper has half of the slow or unknown
 * places), for its lane (`limit` attempts in flight), or in PostgreSQL for its lane's next page, which is pulled as
 * soon as the lane has room. Until then newer deliveries of its lane go first for `passedOverMs` at most; if it is one
 * of unknown many, not at all.
 */
export interface Scheduler {
  /** `fresh`, `again`: one delivery each, recorded just now by this process, or a retry or give-back of its own. */
  notify(due: Due[], kind: Kind, nowMs: number): void;
  /** One shipper's id per event. `claimed` releases it. A lane that is behind gets no room: older ones go first. */
  reserve(shipperIds: string[], nowMs: number): Room;
  /** `asOfMs`: performance.now() before the statement was sent. */
  claimed(claims: DueClaim[], asOfMs: number, from: Room | Page | null): void;
  /** Its deliveries are still due in PostgreSQL. */
  pageFailed(page: Page): void;
  /** The returned attempts start now. */
  starts(nowMs: number): InFlight[];
  /** Of as many lanes as may share a statement; null if no lane has both something due and room. */
  nextPage(nowMs: number): Page | null;
  /** Moves what is in flight for longer than `slowMs` to the slow pool. Returns claims to give back. */
  slow(nowMs: number): InFlight[];
  sending(entry: InFlight, nowMs: number): void;
  /**
   * The attempt has ended; the claim is still to be settled. Returns for how many milliseconds the delivery was
   * sendable before: from when it was due and its webhook was called, without the time in which its receiver had as
   * many attempts as its lane allows, or its shipper as many as one may have while the pool had places left.
   */
  answered(entry: InFlight, nowMs: number): number;
  /** A second call has no effect. `durationMs`: null if no attempt was made. */
  ended(entry: InFlight, durationMs: number | null, nowMs: number): void;
  /** Returns their pending claims except probes, to be given back. */
  returnPending(webhookIds: string[]): InFlight[];
  stop(): InFlight[];
  claims(): readonly InFlight[];
  isHolding(): boolean;
  behind(): Due[];
  /** New deliveries beyond what their lanes can start at once, in quick lanes; 0 if none is this shipper's. */
  pressure(shipperId: string): number;
  /** Claims, grouped by webhook, that wait for this process and not for their receiver. */
  heldBack(nowMs: number): Record<string, HeldBack>;
  usage(): Usage;
}

/** Up to `room` deliveries of each webhook, due from `sinceMs` (epoch, or -Infinity) on. */
export interface Page {
  wanted: { webhookId: string; room: number; sinceMs: number }[];
}

export interface Usage {
  pending: number;
  inFlight: Record<Pool, number>;
}

export interface SchedulerOptions {
  /** Places in the quick pool. */
  concurrency: number;
  slowMs: number;
}

const maxLanesPerPage = 200;
const maxClaimsPerPage = 200;
/** Assumed of a shipper with fewer lanes. */
const assumedWebhooks = 5;

export function createScheduler({ concurrency, slowMs }: SchedulerOptions): Scheduler {
  const limits = laneLimits(concurrency);
  const lanes = createLanes(limits.first);
  const claims = createClaims();
  const reservations = new Map<Room, { lane: Lane; inLane: number }[]>();
  const ready = eachPool<FairQueue<Lane>>(createFairQueue);
  const toFill = createFairQueue<Lane>();
  const counts = noCounts();
  const { pending, inFlight, awaited } = counts;
  const places = createPlaces(concurrency, counts);
  const waits = createWaits(places, slowMs);
  /** Halved when a page fails, so that a lane that cannot be pulled does not delay the others. */
  let lanesPerPage = maxLanesPerPage;
  let pressure = 0;
  /** Since when the process has been too full for the pages of some lanes; Infinity if it is not. */
  let crowdedSinceMs = Infinity;
  let stopped = false;

  const keyOf = ({ shipper }: Lane) => shipper?.id ?? '';
  const reserveIn = (lane: Lane, room: number) => {
    lane.reserved += room;
    if (lane.shipper) lane.shipper.load += room;
  };

  /** Call after each change of a lane. */
  const queueUp = (lane: Lane) => {
    const fresh = lane.pendingFresh + lane.outside.fresh + (lane.page?.fresh ?? 0);
    const more = (lane.pool === 'quick' ? Math.max(0, fresh - lane.limit) : 0) - lane.pressure;
    lane.pressure += more;
    if (lane.shipper) lane.shipper.pressure += more;
    pressure += more;
    if (lane.pending.length > 0 && lane.inFlight < lane.limit) ready[lane.pool].add(keyOf(lane), lane);
    else ready[lane.pool].delete(keyOf(lane), lane);
    if (isBehind(lane.outside) && !lane.page) toFill.add(keyOf(lane), lane);
  };
  const setLimit = (lane: Lane, limit: number, nowMs: number) => {
    lane.limit = limit;
    lane.limitSinceMs = nowMs;
    waits.laneChanged(lane, nowMs);
  };
  const moveTo = (lane: Lane, pool: Pool, limit: number, nowMs: number) => {
    if (pool !== lane.pool) {
      ready[lane.pool].delete(keyOf(lane), lane);
      pending[lane.pool] -= lane.pending.length;
      pending[pool] += lane.pending.length;
    }
    lane.pool = pool;
    setLimit(lane, limit, nowMs);
  };
  const moveToSlow = (lane: Lane, nowMs: number) =>
    moveTo(lane, 'slow', Math.min(limits.slow, Math.max(limits.slowFrom, lane.inFlight)), nowMs);

  const enter = (claim: DueClaim, asOfMs: number, isFresh: boolean) => {
    const lane = lanes.of(claim.webhookId);
    if (!lane.shipper) {
      toFill.delete(keyOf(lane), lane);
      lanes.setShipper(lane, claim.shipperId);
    }
    const entry = claims.add({ claim, lane, asOfMs, isFresh });
    let place = lane.pending.length;
    while (place > 0 && lane.pending[place - 1]!.dueMs > entry.dueMs) place -= 1;
    lane.pending.splice(place, 0, entry);
    pending[lane.pool] += 1;
    if (isFresh) lane.pendingFresh += 1;
    lane.shipper!.load += 1;
    queueUp(lane);
  };
  const leavePending = (lane: Lane, entry: InFlight) => {
    lane.pending.splice(lane.pending.indexOf(entry), 1);
    if (entry.isFresh) lane.pendingFresh -= 1;
    pending[lane.pool] -= 1;
  };
  const takePending = (lane: Lane, mayGo: (claim: DueClaim) => boolean = () => true): InFlight[] => {
    const going = lane.pending.filter(({ claim }) => mayGo(claim));
    for (const entry of going) leavePending(lane, entry);
    lane.shipper!.load -= going.length;
    queueUp(lane);
    return going;
  };
  const occupy = (entry: InFlight, pool: Pool, by: 1 | -1, nowMs: number) => {
    const shipper = entry.lane.shipper!;
    inFlight[pool] += by;
    shipper.inFlight[pool] += by;
    entry.pool = by === 1 ? pool : null;
    waits.shipperChanged(shipper, nowMs);
  };

  const startNext = (pool: Pool, nowMs: number): InFlight | null => {
    if (!places.hasFree(pool)) return null;
    const take = (mayTake: typeof places.mayStart) =>
      ready[pool].take((shipperId) => mayTake(lanes.shipper(shipperId)!, pool));
    const lane = take(places.isLight) ?? take(places.mayStart);
    if (!lane) return null;
    const entry = lane.pending[0]!;
    leavePending(lane, entry);
    entry.startedAtMs = nowMs;
    lane.inFlight += 1;
    waits.started(entry, nowMs);
    occupy(entry, pool, 1, nowMs);
    places.started(nowMs);
    queueUp(lane);
    return entry;
  };

  const release = (reservation: Room) => {
    for (const { lane, inLane } of reservations.get(reservation) ?? []) {
      reserveIn(lane, -inLane);
      queueUp(lane);
    }
    if (reservations.delete(reservation)) counts.promised -= reservation.total;
  };

  const endPages = (page: Page, claims: DueClaim[], failed: boolean) => {
    const came = new Map<string, { count: number; lastDueMs: number }>();
    for (const { webhookId, dueAt } of claims) {
      const { count, lastDueMs } = came.get(webhookId) ?? { count: 0, lastDueMs: -Infinity };
      came.set(webhookId, { count: count + 1, lastDueMs: Math.max(lastDueMs, dueAt.getTime()) });
    }
    for (const { webhookId } of page.wanted) {
      const { count, lastDueMs } = came.get(webhookId) ?? { count: 0, lastDueMs: -Infinity };
      const lane = lanes.of(webhookId);
      const { room, pool } = lane.page!;
      reserveIn(lane, -room);
      awaited[pool] -= room;
      endPage(lane, { pulled: count, lastDueMs, failed });
      queueUp(lane);
    }
  };

  /** A lane without room of its own is queued again when it has some. */
  const fillableLanes = (budget: Budget, nowMs: number): Lane[] => {
    const fillable: Lane[] = [];
    const crowdedOut: Lane[] = [];
    while (fillable.length < lanesPerPage && crowdedOut.length < maxLanesPerPage) {
      const lane = toFill.take();
      if (!lane) break;
      if (lane.page || !isBehind(lane.outside) || places.inLane(lane) === 0) continue;
      (places.inProcess(lane, budget) > 0 ? fillable : crowdedOut).push(lane);
    }
    for (const lane of crowdedOut) queueUp(lane);
    const isCrowded = crowdedOut.some(({ pool }) => pool !== 'slow');
    crowdedSinceMs = isCrowded ? Math.min(crowdedSinceMs, nowMs) : Infinity;
    return fillable;
  };

  return {
    notify: (due, kind, nowMs) => {
      for (const { webhookId, dueFromMs } of due) {
        const lane = lanes.of(webhookId);
        noteDue(lane, dueFromMs, kind, nowMs);
        queueUp(lane);
      }
    },

    reserve: (shipperIds, nowMs) => {
      if (stopped) return noRoom;
      const events = new Map<string, number>();
      for (const shipperId of shipperIds) events.set(shipperId, (events.get(shipperId) ?? 0) + 1);
      const budget = places.budget(nowMs);
      const { free, freeUnknown, forFresh, forLight } = budget;
      const ofOthers = freeUnknown + forLight > 0 ? limits.first : 0;
      const reservation: Room = { byWebhook: {}, ofOthers, total: 0 };
      const reserved: { lane: Lane; inLane: number }[] = [];
      let wanted = 0;
      let wantedByLight = 0;
      for (const [shipperId, count] of events) {
        const shipper = lanes.shipper(shipperId);
        const owed = count * Math.max(shipper?.lanes.size ?? 0, assumedWebhooks);
        wanted += owed;
        if (places.hasFew(shipper)) wantedByLight += owed;
        for (const lane of shipper?.lanes ?? []) {
          const inLane = Math.min(count, places.forFresh(lane, nowMs, budget)); // an event owes a webhook at most one delivery
          reservation.byWebhook[lane.webhookId] = inLane;
          reserved.push({ lane, inLane });
        }
      }
      const isCrowded = nowMs - crowdedSinceMs >= passedOverMs;
      const half = Math.ceil((isCrowded ? free - forFresh : free) / 2); // leaves room for the next statement
      reservation.total = Math.max(0, Math.min(wanted, half), Math.min(wantedByLight, free + forLight));
      counts.promised += reservation.total;
      for (const { lane, inLane } of reserved) reserveIn(lane, inLane);
      reservations.set(reservation, reserved);
      return reservation;
    },

    claimed: (claims, asOfMs, from) => {
      const isRecording = from !== null && 'total' in from;
      if (isRecording) release(from);
      for (const claim of claims) enter(claim, asOfMs, isRecording);
      if (from === null || isRecording) return;
      lanesPerPage = Math.min(maxLanesPerPage, lanesPerPage * 2);
      endPages(from, claims, false);
    },
    pageFailed: (page) => {
      lanesPerPage = Math.max(1, Math.floor(page.wanted.length / 2));
      endPages(page, [], true);
    },

    starts: (nowMs) => {
      const started: InFlight[] = [];
      if (stopped) return started;
      for (const pool of pools)
        for (let next = startNext(pool, nowMs); next; next = startNext(pool, nowMs)) started.push(next);
      return started;
    },

    nextPage: (nowMs) => {
      if (stopped || toFill.size() === 0) return null;
      const budget = places.budget(nowMs);
      const fillable = fillableLanes(budget, nowMs);
      // Ten thousand webhooks may have one delivery due each: small shares reach all of them soon.
      const share = Math.ceil(maxClaimsPerPage / Math.max(1, fillable.length));
      const page: Page = { wanted: [] };
      for (const lane of fillable) {
        const wanted = Math.min(places.inLane(lane), places.inProcess(lane, budget), share);
        if (wanted > 0) {
          reserveIn(lane, wanted);
          awaited[lane.pool] += wanted;
          page.wanted.push({ webhookId: lane.webhookId, room: wanted, sinceMs: beginPage(lane, wanted) });
        }
        queueUp(lane);
      }
      return page.wanted.length > 0 ? page : null;
    },

    slow: (nowMs) => {
      const returned: InFlight[] = [];
      for (const entry of claims.all) {
        const { lane, pool, startedAtMs } = entry;
        if (lane.pool === 'slow' && lane.limit < limits.slow && nowMs - lane.limitSinceMs >= slowMs) {
          setLimit(lane, lane.limit + 1, nowMs);
          queueUp(lane);
        }
        if (startedAtMs === null || pool === 'slow' || nowMs - startedAtMs < slowMs) continue;
        if (lane.pool !== 'slow') {
          moveToSlow(lane, nowMs);
          returned.push(...takePending(lane)); // they would wait too long here
        }
        if (pool === null || !places.mayMoveToSlow()) continue;
        occupy(entry, pool, -1, nowMs);
        occupy(entry, 'slow', 1, nowMs);
        waits.moved(entry, nowMs);
      }
      return returned;
    },

    sending: waits.sending,
    answered: waits.answered,
    ended: (entry, durationMs, nowMs) => {
      if (!claims.remove(entry)) return;
      const { lane, pool, startedAtMs } = entry;
      if (startedAtMs !== null) {
        if (pool) occupy(entry, pool, -1, nowMs);
        lane.inFlight -= 1;
        waits.ended(entry, nowMs);
        lane.shipper!.load -= 1;
      }
      if (durationMs !== null && durationMs >= slowMs) {
        if (lane.pool !== 'slow') moveToSlow(lane, nowMs);
      } else if (durationMs !== null) moveTo(lane, 'quick', Math.min(limits.max, lane.limit * 2), nowMs);
      queueUp(lane);
    },

    returnPending: (webhookIds) =>
      webhookIds.flatMap((webhookId) => {
        const lane = lanes.find(webhookId);
        return lane && lane.pending.length > 0 ? takePending(lane, ({ isProbe }) => !isProbe) : [];
      }),
    stop: () => {
      stopped = true;
      return [...lanes.all()].flatMap((lane) => (lane.pending.length > 0 ? takePending(lane) : []));
    },

    claims: () => claims.all,
    isHolding: () => claims.all.length > 0 || reservations.size > 0,
    behind: () =>
      [...lanes.all()].flatMap(({ webhookId, outside, cursorMs }) =>
        isBehind(outside) ? [{ webhookId, dueFromMs: Number.isFinite(cursorMs) ? cursorMs : null }] : [],
      ),
    pressure: (shipperId) => (lanes.shipper(shipperId)?.pressure ? pressure : 0),
    heldBack: (nowMs) => waits.heldBack(claims.all, nowMs),
    usage: () => ({
      pending: pending.quick + pending.slow + pending.unknown,
      inFlight: { ...inFlight },
    }),
  };
}
