import { createFairQueue, type FairQueue } from '../../platform/limits/fair-queue.js';
import { noRoom, type Due, type Room } from '../outbox/hand-over.js';
import type { DueClaim } from '../outbox/types.js';
import {
  beginPage,
  createLanes,
  eachPool,
  endPage,
  isBehind,
  laneLimits,
  pools,
  tell,
  type InFlight,
  type Lane,
  type Pool,
} from './lanes.js';
import { createRoom, noCounts, placesOf, type Budget } from './room.js';

/**
 * Decides which delivery starts, which lane is pulled and which claims go back. It does nothing itself: no I/O, no
 * timers, and the clock is passed in (`nowMs`, of performance.now()).
 *
 * A claim is in one of three states:
 *
 *   state      comes from                          leaves by
 *   pending    claimed(): a page, or a recording   starts(): there is a place in its pool, its lane is below its
 *                                                  limit, and it is the lane's longest due
 *                                                  giveBack: its lane turned slow, was stopped, or all stops
 *   in flight  starts()                            ended(); after slowMs slow() moves it to the slow pool
 *   returning  giveBack, by slow(), returnPending()
 *              or stop()                           ended(), once PostgreSQL has it back
 *
 * Three pools, each with places of its own, so that none waits for another's receivers:
 *
 *   pool       webhooks                            places                 a lane's limit
 *   unknown    no attempt has ended yet            concurrency            a twentieth of the concurrency
 *   quick      the last attempt was quick          concurrency            doubles up to half of the concurrency
 *   slow       the last attempt lasted slowMs      5 × concurrency        a tenth of the concurrency
 *
 * Why did this one start, and why not that one? A free place goes to the shipper whose turn it is, then to that
 * shipper's next lane, then to that lane's longest due. A delivery that does not start waits for a place (all of its
 * pool are taken, or its shipper has half of the slow or unknown ones), for its lane (`limit` attempts in flight), or
 * in PostgreSQL: for its lane's next page, which is pulled as soon as the lane has room.
 */
export interface Scheduler {
  /** PostgreSQL holds something due for these webhooks; `isFresh`: one delivery each, recorded here just now. */
  notify(due: Due[], isFresh?: boolean): void;
  /**
   * Makes room for the deliveries of events about to be recorded, one shipper an event; `claimed` releases it. A lane
   * that is behind gets none: what is new must not take the places of what is due longer.
   */
  reserve(shipperIds: string[], nowMs: number): Room;
  /** Adds the claims of a statement. `asOfMs` is the time before it was sent. */
  claimed(claims: DueClaim[], asOfMs: number, from: Room | Page | null): void;
  /** A page failed: what it asked for is still in PostgreSQL. */
  pageFailed(page: Page): void;
  /** Takes the places that are free: these attempts begin now. */
  starts(nowMs: number): Start[];
  /** The next page, for as many lanes as may share a statement; null where none has both something due and room. */
  nextPage(nowMs: number): Page | null;
  /**
   * Attempts in flight for longer than `slowMs` give their places back and move to the slow pool. Returns claims to
   * give back.
   */
  slow(nowMs: number): DueClaim[];
  /** The attempt is recorded after `durationMs`; null where it was given back, or none was made. */
  ended(claim: DueClaim, durationMs: number | null): void;
  /** These webhooks are not to be called: returns what is pending there, to be given back. A probe stays. */
  returnPending(webhookIds: string[]): DueClaim[];
  /** Nothing starts and nothing is pulled from now on. Returns all that is pending, to be given back. */
  stop(): DueClaim[];
  /** Every claim of this process, with the time before its claiming statement was sent. */
  held(): Iterable<{ claim: DueClaim; asOfMs: number }>;
  /** Something is claimed, or some statement may still bring what it reserved room for. */
  isHolding(): boolean;
  /** Webhooks of which PostgreSQL may hold something due that no page has brought. */
  behind(): Due[];
  /** Deliveries recorded just now beyond what their lanes begin at once; slow lanes are left out. */
  pressure(): number;
  usage(): Usage;
}

export interface Start {
  claim: DueClaim;
  asOfMs: number;
}

/** One statement pulls this: so many of each webhook, due from `sinceMs` (epoch) on; -Infinity: from the beginning. */
export interface Page {
  wanted: { webhookId: string; room: number; sinceMs: number }[];
}

export interface Usage {
  pending: number;
  inFlight: Record<Pool, number>;
}

export interface SchedulerOptions {
  /** Attempts in flight at once to quick receivers. */
  concurrency: number;
  slowMs: number;
}

const maxLanesPerPage = 200;
const maxClaimsPerPage = 200;
/** Assumed of a shipper whose webhooks are not known yet. */
const webhooksAssumed = 5;

export function createScheduler({ concurrency, slowMs }: SchedulerOptions): Scheduler {
  const limits = laneLimits(concurrency);
  const lanes = createLanes(limits.first);
  const all = new Map<DueClaim, InFlight>();
  const reservations = new Map<Room, { lane: Lane; inLane: number }[]>();
  /** Lanes with something pending that are below their limit. */
  const ready = eachPool<FairQueue<Lane>>(createFairQueue);
  /** Lanes of which PostgreSQL holds something. */
  const hungry = createFairQueue<Lane>();
  const counts = noCounts();
  const { pending, inFlight, awaited } = counts;
  const { places, maxOfShipper } = placesOf(concurrency);
  const room = createRoom(concurrency, counts);
  /** Halved when a page fails, so that one lane that cannot be pulled does not delay the others. */
  let lanesPerPage = maxLanesPerPage;
  let pressure = 0;
  let stopped = false;

  // Lanes

  const keyOf = ({ shipper }: Lane) => shipper?.id ?? '';
  const reserveIn = (lane: Lane, room: number) => {
    lane.reserved += room;
    if (lane.shipper) lane.shipper.held += room;
  };

  /** Called whenever anything of a lane has changed. */
  const queueUp = (lane: Lane) => {
    const fresh = lane.pendingFresh + lane.outside.fresh + (lane.page?.fresh ?? 0);
    pressure -= lane.pressure;
    lane.pressure = lane.pool === 'slow' ? 0 : Math.max(0, fresh - lane.limit);
    pressure += lane.pressure;
    if (lane.pending.length > 0 && lane.inFlight < lane.limit) ready[lane.pool].add(keyOf(lane), lane);
    else ready[lane.pool].delete(keyOf(lane), lane);
    if (isBehind(lane.outside) && !lane.page) hungry.add(keyOf(lane), lane);
  };
  const moveTo = (lane: Lane, pool: Pool, limit: number) => {
    if (pool !== lane.pool) {
      ready[lane.pool].delete(keyOf(lane), lane);
      pending[lane.pool] -= lane.pending.length;
      pending[pool] += lane.pending.length;
    }
    lane.pool = pool;
    lane.limit = limit;
  };

  // Claims

  const enter = (claim: DueClaim, asOfMs: number, isFresh: boolean) => {
    const lane = lanes.of(claim.webhookId);
    if (!lane.shipper) {
      hungry.delete(keyOf(lane), lane);
      lanes.setShipper(lane, claim.shipperId);
    }
    const dueMs = claim.dueAt.getTime();
    const entry: InFlight = { claim, lane, asOfMs, dueMs, isFresh, startedAtMs: null, pool: null };
    all.set(claim, entry);
    let at = lane.pending.length;
    while (at > 0 && lane.pending[at - 1]!.dueMs > dueMs) at -= 1;
    lane.pending.splice(at, 0, entry);
    pending[lane.pool] += 1;
    if (isFresh) lane.pendingFresh += 1;
    lane.shipper!.held += 1;
    queueUp(lane);
  };
  const leavePending = (lane: Lane, entry: InFlight) => {
    lane.pending.splice(lane.pending.indexOf(entry), 1);
    if (entry.isFresh) lane.pendingFresh -= 1;
    pending[lane.pool] -= 1;
  };
  const takePending = (lane: Lane, mayGo: (claim: DueClaim) => boolean = () => true): DueClaim[] => {
    const going = lane.pending.filter(({ claim }) => mayGo(claim));
    for (const entry of going) leavePending(lane, entry);
    lane.shipper!.held -= going.length;
    queueUp(lane);
    return going.map(({ claim }) => claim);
  };
  const occupy = (entry: InFlight, pool: Pool, by: 1 | -1) => {
    inFlight[pool] += by;
    entry.lane.shipper!.inFlight[pool] += by;
    entry.pool = by === 1 ? pool : null;
  };

  const startNext = (pool: Pool, nowMs: number): Start | null => {
    if (inFlight[pool] >= places[pool]) return null;
    const lane = ready[pool].take(
      (shipperId) => lanes.shipper(shipperId)!.inFlight[pool] < maxOfShipper[pool],
    );
    if (!lane) return null;
    const [entry] = lane.pending;
    leavePending(lane, entry!);
    entry!.startedAtMs = nowMs;
    lane.inFlight += 1;
    occupy(entry!, pool, 1);
    room.started(nowMs);
    queueUp(lane);
    return { claim: entry!.claim, asOfMs: entry!.asOfMs };
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

  /** Lanes that want a page and have room for one. One that has none is queued up again when it has. */
  const fillableLanes = (budget: Budget): Lane[] => {
    const fillable: Lane[] = [];
    const crowdedOut: Lane[] = [];
    while (fillable.length < lanesPerPage && crowdedOut.length < maxLanesPerPage) {
      const lane = hungry.take();
      if (!lane) break;
      if (lane.page || !isBehind(lane.outside) || room.inLane(lane) === 0) continue;
      (room.inProcess(lane, budget) > 0 ? fillable : crowdedOut).push(lane);
    }
    for (const lane of crowdedOut) queueUp(lane);
    return fillable;
  };

  return {
    notify: (due, isFresh = false) => {
      for (const { webhookId, dueFromMs } of due) {
        const lane = lanes.of(webhookId);
        tell(lane, dueFromMs, isFresh);
        queueUp(lane);
      }
    },

    reserve: (shipperIds, nowMs) => {
      if (stopped) return noRoom;
      const events = new Map<string, number>();
      for (const shipperId of shipperIds) events.set(shipperId, (events.get(shipperId) ?? 0) + 1);
      const reservation: Room = { byWebhook: {}, ofOthers: limits.first, total: 0 };
      const reserved: { lane: Lane; inLane: number }[] = [];
      let wanted = 0;
      let wantedByNewcomers = 0;
      for (const [shipperId, count] of events) {
        const shipper = lanes.shipper(shipperId);
        const owed = count * Math.max(shipper?.lanes.size ?? 0, webhooksAssumed);
        wanted += owed;
        if (!shipper || shipper.held === 0) wantedByNewcomers += owed;
        for (const lane of shipper?.lanes ?? []) {
          const inLane = Math.min(count, room.forFresh(lane)); // an event owes a webhook one delivery at most
          reservation.byWebhook[lane.webhookId] = inLane;
          reserved.push({ lane, inLane });
        }
      }
      const { free, forNewcomers } = room.budget(nowMs);
      const half = Math.ceil(free / 2); // something is left for the next statement
      reservation.total = Math.max(
        0,
        Math.min(wanted, half),
        Math.min(wantedByNewcomers, free + forNewcomers),
      );
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
      const started: Start[] = [];
      if (stopped) return started;
      for (const pool of pools)
        for (let next = startNext(pool, nowMs); next; next = startNext(pool, nowMs)) started.push(next);
      return started;
    },

    nextPage: (nowMs) => {
      if (stopped || hungry.size() === 0) return null;
      const budget = room.budget(nowMs);
      const fillable = fillableLanes(budget);
      // Ten thousand webhooks may have one delivery due each: a few large pages would take years to reach them all.
      const share = Math.ceil(maxClaimsPerPage / Math.max(1, fillable.length));
      const page: Page = { wanted: [] };
      for (const lane of fillable) {
        const wanted = Math.min(room.inLane(lane), room.inProcess(lane, budget), share);
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
      const returned: DueClaim[] = [];
      for (const entry of all.values()) {
        const { lane, pool, startedAtMs } = entry;
        if (startedAtMs === null || pool === 'slow' || nowMs - startedAtMs < slowMs) continue;
        if (lane.pool !== 'slow') {
          moveTo(lane, 'slow', limits.slow);
          returned.push(...takePending(lane)); // it would wait long and delay others
        }
        if (pool === null || inFlight.slow >= places.slow) continue;
        occupy(entry, pool, -1);
        occupy(entry, 'slow', 1);
      }
      return returned;
    },

    ended: (claim, durationMs) => {
      const entry = all.get(claim);
      if (!entry) return;
      all.delete(claim);
      const { lane, pool, startedAtMs } = entry;
      if (startedAtMs !== null) {
        if (pool) occupy(entry, pool, -1);
        lane.inFlight -= 1;
        lane.shipper!.held -= 1;
      }
      if (durationMs !== null && durationMs >= slowMs) moveTo(lane, 'slow', limits.slow);
      else if (durationMs !== null) moveTo(lane, 'quick', Math.min(limits.max, lane.limit * 2));
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

    held: () => all.values(),
    isHolding: () => all.size > 0 || reservations.size > 0,
    behind: () =>
      [...lanes.all()].flatMap(({ webhookId, outside, cursorMs }) =>
        isBehind(outside) ? [{ webhookId, dueFromMs: Number.isFinite(cursorMs) ? cursorMs : null }] : [],
      ),
    pressure: () => pressure,
    usage: () => ({
      pending: pending.quick + pending.slow + pending.unknown,
      inFlight: { ...inFlight },
    }),
  };
}
