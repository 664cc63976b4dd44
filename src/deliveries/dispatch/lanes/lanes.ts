import type { Claim } from '../../outbox/types.js';
import { isNothing, nothingKnown, type Backlog } from './backlog.js';

/**
 * One webhook's lane: how many of its attempts may be under way in this process at once, and what waits for that. A slow
 * or dead receiver fills its own lane and nothing else.
 */
export interface Lane {
  readonly webhookId: string;
  /** Empty until its first claim tells. */
  shipperId: string;
  /** Attempts under way. */
  active: number;
  /** Claims promised to statements that are on their way. */
  reserved: number;
  /** Doubles with each quick attempt; a slow one sets it back. */
  limit: number;
  slow: boolean;
  /** Its last attempt that ended was quick: it will not keep a slot for long. */
  proven: boolean;
  /** Claimed, and not started yet. */
  waiting: Claim[];
  /** Of the waiting, what was recorded just now. */
  waitingNew: number;
  readonly backlog: Readonly<Backlog>;
}

export interface Lanes {
  /** The webhook's lane, made if need be; a later call may forget it once it holds nothing and nothing is known to be due. */
  of(webhookId: string): Lane;
  /** The lanes a shipper's webhooks have had so far. */
  ofShipper(shipperId: string): Lane[];
  /** Something of this shipper is claimed here, or promised to be. */
  holdsSome(shipperId: string): boolean;
  /** The lane belongs to a webhook of this shipper. */
  note(lane: Lane, shipperId: string): void;
  /** How many more this lane may hold, waiting ones included. */
  roomIn(lane: Lane): number;
  /** What a webhook may hold of which nothing is known yet. */
  readonly firstRoom: number;
  /** An attempt has ended after `durationMs`; null if none was made. */
  adapt(lane: Lane, durationMs: number | null): void;
  slowDown(lane: Lane): void;
  all(): Iterable<Lane>;
}

const fewest = 4;
const rememberedLanes = 10_000;
/** A quick lane keeps as many waiting as this many rounds of its attempts. */
const roundsWaiting = 3;

/** `concurrency`: attempts that may be under way in the process; one webhook gets half of them at most. */
export function createLanes(concurrency: number, slowMs: number): Lanes {
  const lanes = new Map<string, Lane>();
  const byShipper = new Map<string, Set<Lane>>();
  const highest = Math.max(Math.min(concurrency, fewest), Math.ceil(concurrency / 2));
  const first = Math.min(concurrency, Math.max(2, Math.ceil(concurrency / 20)));
  const slowLimit = Math.min(concurrency, Math.max(fewest, Math.ceil(concurrency / 10)));

  const forget = (lane: Lane) => {
    lanes.delete(lane.webhookId);
    const others = byShipper.get(lane.shipperId);
    others?.delete(lane);
    if (others?.size === 0) byShipper.delete(lane.shipperId);
  };
  const holds = (lane: Lane) => lane.active + lane.reserved + lane.waiting.length > 0;
  let mostLanes = rememberedLanes;
  const forgetIdle = () => {
    for (const lane of lanes.values()) if (!holds(lane) && isNothing(lane.backlog)) forget(lane);
    mostLanes = Math.max(rememberedLanes, lanes.size * 1.1); // not for each lane more, where all are busy
  };
  const slowDown = (lane: Lane) => {
    lane.slow = true;
    lane.proven = false;
    lane.limit = slowLimit;
  };

  return {
    firstRoom: first * (1 + roundsWaiting),
    of: (webhookId) => {
      const known = lanes.get(webhookId);
      if (known) return known;
      if (lanes.size >= mostLanes) forgetIdle();
      const lane: Lane = {
        webhookId,
        shipperId: '',
        active: 0,
        reserved: 0,
        limit: first,
        slow: false,
        proven: false,
        waiting: [],
        waitingNew: 0,
        backlog: nothingKnown(),
      };
      lanes.set(webhookId, lane);
      return lane;
    },
    ofShipper: (shipperId) => [...(byShipper.get(shipperId) ?? [])],
    holdsSome: (shipperId) => {
      for (const lane of byShipper.get(shipperId) ?? []) if (holds(lane)) return true;
      return false;
    },
    note: (lane, shipperId) => {
      if (lane.shipperId || lanes.get(lane.webhookId) !== lane) return;
      lane.shipperId = shipperId;
      byShipper.set(shipperId, (byShipper.get(shipperId) ?? new Set()).add(lane));
    },
    roomIn: ({ active, reserved, limit, slow, waiting }) =>
      Math.max(0, (slow ? limit : limit * (1 + roundsWaiting)) - active - reserved - waiting.length),
    adapt: (lane, durationMs) => {
      if (durationMs === null) return;
      if (durationMs >= slowMs) slowDown(lane);
      else {
        lane.slow = false;
        lane.proven = true;
        lane.limit = Math.min(highest, lane.limit * 2);
      }
    },
    slowDown,
    all: () => lanes.values(),
  };
}
