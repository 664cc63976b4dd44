import {
  eachPool,
  offReceiverMs,
  pools,
  type InFlight,
  type Lane,
  type Lanes,
  type Pool,
  type Shipper,
} from './lanes.js';
import { maxClaimedMs } from './congestion.js';

const slowPlacesFactor = 5;
/** Attempts that hang move to the slow pool also if it is full, up to this many times `concurrency`. */
const maxSlowFactor = 20;
/** The part of the slow and of the unknown pool that one shipper may take. */
const maxShareOfShipper = 1 / 2;
/**
 * A shipper with less than this share of a pool's places goes first, and the last places, as many, are kept for such
 * shippers: others' attempts may last long. With less than this share of `concurrency` in claims, it has room in a full
 * process.
 */
const lightShare = 1 / 10;
/** The most that a lane holds, in multiples of its limit: of a backlog, and of what is counted one by one. */
const roundsOfBacklog = 2;
const roundsCounted = 4;
/** A page must have room for at least this share of the limit, unless the lane is empty. */
const worthwhileShare = 1 / 2;
/**
 * At most as many claims are pending as started within this time. Statements and connecting take a part of
 * `maxStartMs`, too, and the rate follows a receiver that slows down only after two such windows.
 */
const pendingMs = 200;
const minPendingFactor = 4;
const maxPendingFactor = 10;
/** A backlog leaves this part of the room to what is recorded. */
const shareForRecords = 1 / 4;
/** Orders are admitted while less is pending than started within this part of `pendingMs`. */
const shareForOrders = 1 / 2;
/** Claims of unknown receivers, which may all hang, leave the rest of the room to known ones. */
const maxShareOfUnknown = 1 / 2;
/**
 * The bound, in each pool, of the large bodies in flight: over TLS each attempt has copies of its own, outside the heap.
 * One shipper may have half. Below a tenth it always has room, but not beyond twice the bound.
 */
export const maxLargeBytes = 16 * 1024 * 1024;
const maxLargeOfShipper = maxLargeBytes * maxShareOfShipper;
const maxLargeOfLight = maxLargeBytes * lightShare;
/** New deliveries may take places before those of their lane that are due in PostgreSQL, for so long. */
export const passedOverMs = 100;

export const placesOf = (concurrency: number) => {
  const places: Record<Pool, number> = {
    quick: concurrency,
    unknown: concurrency,
    slow: slowPlacesFactor * concurrency,
  };
  const maxOfShipper: Record<Pool, number> = {
    quick: Infinity,
    unknown: Math.ceil(places.unknown * maxShareOfShipper),
    slow: Math.ceil(places.slow * maxShareOfShipper),
  };
  return { places, maxOfShipper };
};

/** Up to `room` deliveries of each webhook, due from `sinceMs` (epoch, or -Infinity) on. */
export interface Page {
  wanted: { webhookId: string; room: number; sinceMs: number }[];
}

/** Orders that were admitted and whose events are not recorded yet. */
export interface OrdersUnderWay {
  ofShipper: number;
  all: number;
}

/** Room for claims that start soon, so that none has to be checked again. */
export interface Budget {
  free: number;
  /** The part of `free` that unknown receivers may take. */
  freeUnknown: number;
  /** The part of `free` that backlogs may not take. */
  forRecords: number;
}

/** How many places and claims the process has, and how many more it may take. */
export class Places {
  readonly pending = eachPool(() => 0);
  readonly inFlight = eachPool(() => 0);
  /** The bytes of large bodies. */
  readonly #large = eachPool(() => 0);
  /** Requested by pages under way. */
  readonly awaited = eachPool(() => 0);
  /** Reserved for statements that record. */
  promised = 0;
  readonly maxOfShipper: Record<Pool, number>;
  readonly #places: Record<Pool, number>;
  readonly #started = new Rate(pendingMs);

  constructor(readonly concurrency: number) {
    const { places, maxOfShipper } = placesOf(concurrency);
    this.#places = places;
    this.maxOfShipper = maxOfShipper;
  }

  hasFree(pool: Pool): boolean {
    return this.inFlight[pool] < this.#places[pool];
  }

  isLight(shipper: Shipper, pool: Pool): boolean {
    const large = shipper.large[pool];
    return (
      !shipper.isAtLimit &&
      shipper.inFlight[pool] < lightShare * this.#places[pool] &&
      (large === 0 || (large < maxLargeOfLight && this.#large[pool] < 2 * maxLargeBytes))
    );
  }

  mayStart(shipper: Shipper, pool: Pool): boolean {
    const kept = Math.floor(lightShare * this.concurrency);
    return (
      !this.isFull(shipper, pool) &&
      (this.isLight(shipper, pool) ||
        (this.inFlight[pool] < this.#places[pool] - kept &&
          (shipper.large[pool] === 0 || this.#large[pool] < maxLargeBytes)))
    );
  }

  /** The lane's next attempt may start, unless it has to wait for its pace. */
  hasPlaceFor(lane: Lane): boolean {
    return !lane.isFull && this.hasFree(lane.pool) && this.mayStart(lane.shipper!, lane.pool);
  }

  /** It has as much in flight as one shipper may. */
  isFull(shipper: Shipper, pool: Pool): boolean {
    return (
      shipper.isAtLimit ||
      shipper.inFlight[pool] >= this.maxOfShipper[pool] ||
      shipper.large[pool] >= maxLargeOfShipper
    );
  }

  mayMoveToSlow({ claim }: InFlight): boolean {
    return (
      this.inFlight.slow < maxSlowFactor * this.concurrency &&
      (!claim.large || this.#large.slow < 2 * maxLargeBytes)
    );
  }

  hasFew(shipper: Shipper | null | undefined, coming = 0): boolean {
    return (shipper?.load ?? 0) + coming < lightShare * this.concurrency;
  }

  take({ lane, pool, claim }: InFlight, nowMs: number): void {
    this.#add(lane.shipper!, pool!, claim, 1);
    this.#started.count(nowMs);
  }

  #add(shipper: Shipper, pool: Pool, { large }: InFlight['claim'], sign: 1 | -1): void {
    this.inFlight[pool] += sign;
    shipper.inFlight[pool] += sign;
    if (!large) return;
    this.#large[pool] += sign * large.bytes;
    shipper.large[pool] += sign * large.bytes;
  }

  /** Moves an attempt to another pool, or to none. */
  leave(entry: InFlight, to: Pool | null, fullUntilMs: number): void {
    const { pool: from } = entry;
    const shipper = entry.lane.shipper!;
    if (from !== null) {
      if (shipper.limit)
        for (const pool of pools) shipper.fullAtMs[pool] = Math.max(shipper.fullAtMs[pool], fullUntilMs);
      else if (this.isFull(shipper, from) && this.hasFree(from))
        shipper.fullAtMs[from] = Math.max(shipper.fullAtMs[from], fullUntilMs);
      this.#add(shipper, from, entry.claim, -1);
    }
    if (to !== null) this.#add(shipper, to, entry.claim, 1);
    entry.pool = to;
  }

  budget(nowMs: number): Budget {
    const { pending, inFlight, promised, concurrency } = this;
    const lately = Math.max(this.#started.recent(nowMs), minPendingFactor * concurrency);
    const max = concurrency + Math.min(lately, maxPendingFactor * concurrency);
    const unknown = inFlight.unknown + pending.unknown;
    const maxUnknown = Math.floor(max * maxShareOfUnknown);
    const taken = inFlight.quick + pending.quick + Math.min(unknown, maxUnknown) + promised;
    return {
      free: max - taken,
      freeUnknown: maxUnknown - unknown,
      forRecords: Math.floor(max * shareForRecords),
    };
  }

  /** `coming`: deliveries that orders under way will owe. */
  hasRoomForOrder(coming: number, nowMs: number): boolean {
    const { pending, inFlight, promised, concurrency } = this;
    const lately = Math.max(this.#started.recent(nowMs), concurrency);
    const held = inFlight.quick + pending.quick + promised + coming;
    return held < concurrency + Math.min(lately, maxPendingFactor * concurrency) * shareForOrders;
  }

  /** One round if the lane is not quick, or congested: a waiting claim would be old before it starts. */
  #maxLoad(lane: Lane, rounds: number): number {
    const all = (lane.pool === 'quick' && !lane.isCongested ? rounds : 1) * lane.limit;
    return Math.min(all, lane.inFlight - lane.hanging + lane.maxPending);
  }

  /** How much a quick lane holds beyond what a backlog would fill. */
  excess(lane: Lane): number {
    if (lane.pool !== 'quick' || lane.isHeldBack || lane.isCongested) return 0;
    return Math.max(0, lane.load + lane.outside.counted - this.#maxLoad(lane, roundsOfBacklog));
  }

  /**
   * Room for new deliveries of the lane: none while an unknown number is due in PostgreSQL, or no page took them in
   * time.
   */
  forRecordsIn(lane: Lane, nowMs: number, { freeUnknown }: Budget): number {
    const { outside, page } = lane;
    if (lane.isSpaced || lane.shipper?.limit) return 0;
    if (lane.pool === 'unknown' && freeUnknown + this.concurrency <= 0) return 0;
    if (outside.older || page?.older || nowMs - outside.notifiedAtMs >= passedOverMs) return 0;
    const beyondPage = page ? Math.max(0, page.counted - page.room) : 0;
    const load = lane.load - lane.hanging;
    return Math.max(0, this.#maxLoad(lane, roundsCounted) - load - outside.counted - beyondPage);
  }

  /** Room for a page of the lane, whatever the load of the process; 0 if the room is not worth a page. */
  forPageIn(lane: Lane, nowMs: number): number {
    const room = this.#forPageIn(lane, nowMs);
    const limit = lane.shipper?.limit;
    if (!limit) return room;
    const within = Math.max(0, Math.min(room, limit.max - lane.shipper!.load));
    if (within === 0) limit.waiting.add(lane);
    return within;
  }

  #forPageIn(lane: Lane, nowMs: number): number {
    const { limit, congestion } = lane;
    const load = lane.load - lane.hanging;
    if (congestion !== null && congestion.nextMs - nowMs > maxClaimedMs) return 0;
    const { counted, older } = lane.outside;
    const room = this.#maxLoad(lane, older ? roundsOfBacklog : roundsCounted) - load;
    const isEnough =
      room >= Math.min(limit, lane.maxPending) * worthwhileShare || (!older && room >= counted);
    const isWorthwhile = lane.pool === 'quick' && !lane.isCongested ? isEnough : room >= 1;
    return isWorthwhile || (room > 0 && load === 0) ? room : 0;
  }

  /**
   * Room of the process for pages of the lane. A shipper with few claims has more, so that no backlog of others keeps it
   * out.
   */
  forPages({ pool, shipper }: Lane, { free, freeUnknown, forRecords }: Budget): number {
    const { pending, inFlight, awaited, concurrency } = this;
    if (pool === 'slow') {
      if (shipper && shipper.large.slow >= maxLargeOfShipper) return 0;
      return this.#places.slow - inFlight.slow - pending.slow - awaited.slow;
    }
    const isFew = this.hasFew(shipper);
    const ofAll = (isFew ? free + concurrency : free - forRecords) - awaited.quick - awaited.unknown;
    const ofUnknown = (isFew ? freeUnknown + concurrency : freeUnknown) - awaited.unknown;
    return pool === 'quick' ? ofAll : Math.min(ofAll, ofUnknown);
  }
}

class Rate {
  #startMs = -Infinity;
  #current = 0;
  #before = 0;

  constructor(readonly windowMs: number) {}

  count(nowMs: number): void {
    this.#moveOn(nowMs);
    this.#current += 1;
  }

  recent(nowMs: number): number {
    this.#moveOn(nowMs);
    return Math.max(this.#before, this.#current);
  }

  #moveOn(nowMs: number): void {
    if (nowMs - this.#startMs < this.windowMs) return;
    this.#before = nowMs - this.#startMs < 2 * this.windowMs ? this.#current : 0;
    this.#current = 0;
    this.#startMs = nowMs;
  }
}

/** A process's claims for a webhook whose receiver has room: they wait for the process. */
export interface HeldBack {
  /** Claims whose attempt has not begun, and how long the oldest of them has been sendable. */
  count: number;
  sendableForMs: number;
  /** How long ago the receiver was last full with this process's attempts; null if there was none. */
  freeForMs: number | null;
}

/**
 * Counts, for each webhook, the claims whose attempt has not begun although the receiver has room: they wait for a place
 * in a pool, or for PostgreSQL. Claims that wait only for other attempts of their shipper are not counted. Their webhook
 * is listed with 0, because PostgreSQL may see too few claims to know that its receiver is full.
 */
export function heldBack(
  claims: readonly InFlight[],
  lanes: Lanes,
  places: Places,
  nowMs: number,
): Record<string, HeldBack> {
  const byWebhook: Record<string, HeldBack> = {};
  const off = new Map<Lane, number[]>();
  const atReceiver = new Map<Shipper, Record<Pool, number>>();
  for (const { lane, pool, startedAtMs, sentAtMs, answeredAtMs } of claims) {
    if (startedAtMs === null || pool === null) continue;
    if (sentAtMs !== null && answeredAtMs === null) {
      const counts = atReceiver.get(lane.shipper!) ?? eachPool(() => 0);
      counts[pool] += 1;
      atReceiver.set(lane.shipper!, counts);
    } else off.set(lane, [...(off.get(lane) ?? []), answeredAtMs ?? startedAtMs]);
  }

  /** Lanes of shippers with as many attempts in a pool as one may have, at least half of them under way. */
  const crowded = new Set<Lane>();
  for (const shipper of lanes.shippers())
    for (const pool of pools) {
      const most = Math.min(places.maxOfShipper[pool], shipper.inFlight[pool]);
      const isCrowded = places.hasFree(pool) && places.isFull(shipper, pool);
      if (!isCrowded || (atReceiver.get(shipper)?.[pool] ?? 0) < most / 2) continue;
      for (const lane of shipper.lanes) if (lane.pool === pool) crowded.add(lane);
    }
  for (const lane of lanes.all())
    if (lane.isPaced || lane.shipper?.limit || (lane.isCongested && lane.isFull)) crowded.add(lane);
  for (const lane of crowded)
    if (!lane.isEmpty) byWebhook[lane.webhookId] = { count: 0, sendableForMs: 0, freeForMs: 0 };

  /** When its receiver was last full. */
  const fullAtMs = (lane: Lane): number => {
    if (!lane.isFull) return lane.fullAtMs;
    const late = off.get(lane)?.sort((a, b) => a - b)[lane.inFlight - lane.limit];
    return late === undefined ? nowMs : Math.min(nowMs, late + offReceiverMs);
  };
  for (const { lane, claim, asOfMs, sentAtMs } of claims) {
    if (crowded.has(lane)) continue;
    const lastFullMs = fullAtMs(lane);
    if (lastFullMs >= nowMs && lane.isFull) continue;
    const freeForMs = lastFullMs === -Infinity ? null : nowMs - lastFullMs;
    const held = (byWebhook[lane.webhookId] ??= { count: 0, sendableForMs: 0, freeForMs });
    if (sentAtMs !== null || claim.trigger === 'MANUAL') continue;
    held.count += 1;
    held.sendableForMs = Math.max(held.sendableForMs, nowMs - asOfMs + claim.sendableForMs);
  }
  return byWebhook;
}
