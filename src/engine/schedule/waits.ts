import type { HeldBack } from '../outbox/sendable.js';
import {
  eachPool,
  isBehind,
  loadOf,
  pools,
  type InFlight,
  type Lane,
  type Pool,
  type Shipper,
  type Wait,
} from './lanes.js';
import { type Places } from './places.js';

/**
 * Measures which waits are ours, and decides nothing. A due delivery that waits for its receiver, or for its own
 * shipper's attempts, is not late because of us. The metric of sendable time and the figures of what is held back come
 * from here.
 */
export interface Waits {
  /** Call after the claim has taken its place in its lane, before it takes one in its pool. */
  started(entry: InFlight, nowMs: number): void;
  sending(entry: InFlight, nowMs: number): void;
  /**
   * Call when the attempt has ended. Returns how many milliseconds the delivery was sendable before it: see
   * `Scheduler`.
   */
  answered(entry: InFlight, nowMs: number): number;
  /** Call after the claim has left its lane and its pool. */
  ended(entry: InFlight, nowMs: number): void;
  /** Call when the claim has moved to another pool. */
  moved(entry: InFlight, nowMs: number): void;
  /** Call when a lane's pool or limit has changed. */
  laneChanged(lane: Lane, nowMs: number): void;
  /** Call when the number of the shipper's claims in flight in a pool has changed. */
  shipperChanged(shipper: Shipper, nowMs: number): void;
  heldBack(claims: Iterable<InFlight>, nowMs: number): Record<string, HeldBack>;
}

interface Receiver {
  occupancy: Occupancy;
  /** Claims in flight whose attempt is not under way, the longest first. */
  off: Wait[];
}

interface Share {
  /** Claims in flight whose attempt is under way. */
  atReceiver: Record<Pool, number>;
  /** Full while the shipper has as many attempts in the pool as one shipper may have, and the pool has places left. */
  occupancy: Record<Pool, Occupancy>;
}

/**
 * A claim that reads its target or is being settled takes a place at its receiver this long. After that, the delay is
 * ours.
 */
const offReceiverMs = 250;

export function createWaits({ hasFree, maxOfShipper }: Places, slowMs: number): Waits {
  const receivers = new WeakMap<Lane, Receiver>();
  const shares = new WeakMap<Shipper, Share>();
  /** Shippers with as many claims in the pool as one may have, and attempts under way for at least half as many. */
  const atMax = eachPool(() => new Set<Shipper>());

  const shareOf = (shipper: Shipper): Share => {
    const known = shares.get(shipper);
    if (known) return known;
    const share = { atReceiver: eachPool(() => 0), occupancy: eachPool(() => createOccupancy(0)) };
    shares.set(shipper, share);
    return share;
  };
  const shareOfLane = ({ shipper, pool }: Lane) => shareOf(shipper!).occupancy[pool];

  const laneChanged = (lane: Lane, nowMs: number) => {
    const receiver = receivers.get(lane);
    if (!receiver) return;
    const late = receiver.off[lane.inFlight - lane.limit];
    const untilMs = late ? late.offSinceMs + offReceiverMs : Infinity;
    receiver.occupancy.set(lane.inFlight >= lane.limit, nowMs, shareOfLane(lane), untilMs);
  };
  const takeOff = ({ off }: Receiver, wait: Wait, nowMs: number) => {
    wait.offSinceMs = nowMs;
    off.push(wait);
  };
  const noLongerOff = ({ off }: Receiver, wait: Wait) => {
    const at = off.indexOf(wait);
    if (at >= 0) off.splice(at, 1);
  };

  const count = ({ lane }: InFlight, wait: Wait, pool: Pool | null) => {
    const { atReceiver } = shareOf(lane.shipper!);
    if (wait.counted) atReceiver[wait.counted] -= 1;
    if (pool) atReceiver[pool] += 1;
    wait.counted = pool;
  };

  /** A share is not full while most of its places are taken by claims that read their target or are being settled. */
  const shipperChanged = (shipper: Shipper, nowMs: number) => {
    const { atReceiver, occupancy } = shareOf(shipper);
    for (const pool of pools) {
      const max = maxOfShipper[pool];
      if (shipper.inFlight[pool] >= max && atReceiver[pool] >= max / 2) atMax[pool].add(shipper);
      else if (atMax[pool].delete(shipper)) occupancy[pool].set(false, nowMs);
      // Any shipper's claim may take the pool's last place, or free its only one.
      for (const full of atMax[pool]) shareOf(full).occupancy[pool].set(hasFree(pool), nowMs);
    }
  };

  return {
    started: (entry, nowMs) => {
      const { lane } = entry;
      const receiver = receivers.get(lane) ?? {
        occupancy: createOccupancy(nowMs, shareOfLane(lane)),
        off: [],
      };
      receivers.set(lane, receiver);
      const freeSinceMs = receiver.occupancy.lastFullMs(nowMs);
      const wait: Wait = { sentAtMs: null, counted: null, offSinceMs: nowMs, freeSinceMs };
      entry.wait = wait;
      takeOff(receiver, wait, nowMs);
      laneChanged(lane, nowMs);
    },

    sending: (entry, nowMs) => {
      const { lane } = entry;
      const wait = entry.wait!;
      wait.sentAtMs = nowMs;
      noLongerOff(receivers.get(lane)!, wait);
      count(entry, wait, entry.pool);
      laneChanged(lane, nowMs);
      shipperChanged(lane.shipper!, nowMs);
    },

    /**
     * The claim keeps its place in its lane until it is settled, but its place at the receiver for `offReceiverMs` at
     * most. Only now does the attempt show whether the receiver is slow. If the receiver was full for most of the wait,
     * the moments between two attempts belonged to what was due earlier: only the last one counts. A claim has a place
     * at the receiver from its start, so the time for reading its target is ours.
     */
    answered: (entry, nowMs) => {
      const { lane, asOfMs, claim } = entry;
      const startedAtMs = entry.startedAtMs!;
      const receiver = receivers.get(lane)!;
      const wait = entry.wait!;
      const beganAtMs = wait.sentAtMs ?? nowMs;
      const sinceMs = asOfMs - claim.sendableForMs;
      const waitMs = beganAtMs - sinceMs;
      const isSlow = nowMs - startedAtMs >= slowMs || lane.pool === 'slow';
      const fullMs = receiver.occupancy.fullBetween(sinceMs, startedAtMs, nowMs, isSlow);
      count(entry, wait, null);
      takeOff(receiver, wait, nowMs);
      laneChanged(lane, nowMs);
      shipperChanged(lane.shipper!, nowMs);
      const sendableMs = Math.max(0, waitMs - fullMs);
      const isMostlyFull = fullMs > 0 && fullMs >= mostly * waitMs;
      return isMostlyFull ? Math.min(sendableMs, beganAtMs - wait.freeSinceMs) : sendableMs;
    },

    ended: (entry, nowMs) => {
      noLongerOff(receivers.get(entry.lane)!, entry.wait!);
      laneChanged(entry.lane, nowMs);
    },

    moved: (entry, nowMs) => {
      const { wait } = entry;
      if (!wait?.counted) return;
      count(entry, wait, entry.pool);
      shipperChanged(entry.lane.shipper!, nowMs);
    },
    laneChanged,
    shipperChanged,

    /**
     * Claims, grouped by webhook, whose attempt has not begun although the receiver has room: they wait for a place in
     * a pool, or for PostgreSQL. If all attempts have begun, the count is 0. A lane that waits for its own shipper's
     * attempts holds nothing back. It is listed with 0, because PostgreSQL may see too few claims to know that it is
     * full.
     */
    heldBack: (claims, nowMs) => {
      const byWebhook: Record<string, HeldBack> = {};
      const crowded = new Set<Lane>();
      for (const pool of pools)
        if (hasFree(pool))
          for (const { lanes } of atMax[pool])
            for (const lane of lanes) if (lane.pool === pool) crowded.add(lane);
      for (const lane of crowded)
        if (loadOf(lane) > 0 || isBehind(lane.outside))
          byWebhook[lane.webhookId] = { count: 0, sendableForMs: 0, freeForMs: 0 };
      for (const entry of claims) {
        const { lane, claim, asOfMs, wait } = entry;
        const occupancy = receivers.get(lane)?.occupancy;
        if (crowded.has(lane) || occupancy?.isFull(nowMs)) continue;
        const wasFullAtMs = occupancy?.lastFullMs(nowMs) ?? -Infinity;
        const freeForMs = wasFullAtMs === -Infinity ? null : nowMs - wasFullAtMs;
        const held = (byWebhook[lane.webhookId] ??= { count: 0, sendableForMs: 0, freeForMs });
        if (wait?.sentAtMs != null) continue;
        held.count += 1;
        held.sendableForMs = Math.max(held.sendableForMs, nowMs - asOfMs + claim.sendableForMs);
      }
      return byWebhook;
    },
  };
}

/**
 * How long a receiver had as many attempts as its lane allows. All times come from one monotonic clock, in
 * milliseconds.
 */
export interface Occupancy {
  isFull(nowMs: number): boolean;
  /** When it was last full: `nowMs` if it is, -Infinity if it never was. */
  lastFullMs(nowMs: number): number;
  /**
   * Call after each change; `nowMs` never decreases. A full receiver is full until `untilMs` at most, unless it is set
   * again. While `share` is full, so is the receiver, whatever `isFull` says.
   */
  set(isFull: boolean, nowMs: number, share?: Occupancy, untilMs?: number): void;
  /** How much of the time from `fromMs` to `toMs` was full; none of it was before the first point. */
  sumBetween(fromMs: number, toMs: number): number;
  /**
   * How much of the time from `fromMs` to `toMs` the receiver was full, as known at `nowMs`; `toMs` is not before the
   * first `set`. Another process may have sent before that, or nobody: if the receiver is slow, or has been full for
   * three quarters of the time since (of five seconds at least), it is taken to have been full before; if not, only
   * while its share was.
   */
  fullBetween(fromMs: number, toMs: number, nowMs: number, isSlow: boolean): number;
}

const maxPoints = 128;
const stepMs = 20;
/** Of a point's age: how far it may lie from the next. A month takes 110 points. */
const maxGap = 1 / 6;
/** From this share on a full receiver, and not this process, decides how long things wait. */
const mostly = 3 / 4;
const provenAfterMs = 5_000;

/** How long the receiver was full from the first point until `atMs`. */
interface Point {
  atMs: number;
  fullMs: number;
}

function thinned(points: Point[], nowMs: number): Point[] {
  const kept = [points.at(-1)!];
  for (let n = points.length - 2; n > 0; n -= 1) {
    const older = points[n - 1]!;
    if (kept.at(-1)!.atMs - older.atMs > maxGap * (nowMs - older.atMs)) kept.push(points[n]!);
  }
  return [...kept, points[0]!].reverse();
}

/**
 * Between its points the sum is interpolated. Changes within a step share a point; the older points are, the fewer are
 * kept. So memory is bounded, and the sum up to a time is wrong by a step or a sixth of its age at most.
 */
export function createOccupancy(sinceMs: number, firstShare?: Occupancy): Occupancy {
  let points: Point[] = [{ atMs: sinceMs, fullMs: 0 }];
  let last: Point & { untilMs: number; share: Occupancy | undefined; wasFullAtMs: number } = {
    atMs: sinceMs,
    fullMs: 0,
    untilMs: -Infinity,
    share: firstShare,
    wasFullAtMs: -Infinity,
  };

  const fullUntil = (atMs: number): number => {
    if (atMs >= last.atMs) {
      const freeFromMs = Math.max(last.atMs, Math.min(atMs, last.untilMs));
      return last.fullMs + freeFromMs - last.atMs + (last.share?.sumBetween(freeFromMs, atMs) ?? 0);
    }
    let after: Point = last;
    for (let n = points.length - 1; n >= 0; n -= 1) {
      const before = points[n]!;
      if (before.atMs <= atMs) {
        const share = (after.fullMs - before.fullMs) / (after.atMs - before.atMs || 1);
        return before.fullMs + share * (atMs - before.atMs);
      }
      after = before;
    }
    return 0;
  };
  const sumBetween = (fromMs: number, toMs: number) => fullUntil(toMs) - fullUntil(fromMs);
  const lastFullMs = (nowMs: number) =>
    Math.max(last.wasFullAtMs, Math.min(last.untilMs, nowMs), last.share?.lastFullMs(nowMs) ?? -Infinity);
  const addPoint = (atMs: number) => {
    if (atMs - points.at(-1)!.atMs < stepMs) return;
    points.push({ atMs, fullMs: fullUntil(atMs) });
    if (points.length <= maxPoints) return;
    points = thinned(points, atMs);
  };

  return {
    isFull: (nowMs) => nowMs < last.untilMs || (last.share?.isFull(nowMs) ?? false),
    lastFullMs,
    sumBetween,
    set: (isFull, nowMs, share, fullUntilMs = Infinity) => {
      const untilMs = isFull && fullUntilMs > nowMs ? fullUntilMs : -Infinity;
      if (untilMs === last.untilMs && share === last.share) return;
      if (last.untilMs < nowMs) addPoint(Math.max(last.atMs, last.untilMs));
      addPoint(nowMs);
      last = { atMs: nowMs, fullMs: fullUntil(nowMs), untilMs, share, wasFullAtMs: lastFullMs(nowMs) };
    },
    fullBetween: (fromMs, toMs, nowMs, isSlow) => {
      const seen = sumBetween(fromMs, toMs);
      if (fromMs >= sinceMs) return seen;
      const wasFull = isSlow || fullUntil(nowMs) >= mostly * Math.max(nowMs - sinceMs, provenAfterMs);
      return seen + (wasFull ? sinceMs - fromMs : (firstShare?.sumBetween(fromMs, sinceMs) ?? 0));
    },
  };
}
