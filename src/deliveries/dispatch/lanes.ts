import type { DueClaim } from '../outbox/types.js';

export const pools = ['quick', 'unknown', 'slow'] as const;
export type Pool = (typeof pools)[number];

export const eachPool = <T>(make: () => T): Record<Pool, T> => ({
  quick: make(),
  unknown: make(),
  slow: make(),
});

export interface Shipper {
  id: string;
  lanes: Set<Lane>;
  /** Claims held and room reserved. */
  held: number;
  inFlight: Record<Pool, number>;
}

/** One webhook's lane in this process: a slow or dead receiver fills its own lane and nothing else. */
export interface Lane {
  readonly webhookId: string;
  /** Null until its first claim names the shipper. */
  shipper: Shipper | null;
  pool: Pool;
  /** Attempts in flight at once. */
  limit: number;
  /** The longest due come first. */
  pending: InFlight[];
  /** How many of `pending` this process has just recorded. */
  pendingFresh: number;
  /** Its part of the pressure. */
  pressure: number;
  inFlight: number;
  /** Room promised to statements under way. */
  reserved: number;
  /** What PostgreSQL holds that is due, as far as this process knows. */
  outside: Outside;
  /** The page under way, and what was known when it began. */
  page: (Outside & { room: number; sinceMs: number; pool: Pool }) | null;
  /** Where the next page begins (epoch): before it nothing is due. */
  cursorMs: number;
}

export interface Outside {
  /** How many were recorded just now and left there because there was no room. */
  fresh: number;
  /** Whether there may be more that has been due longer; nobody knows how much. */
  older: boolean;
}

/** A claim of this process, from the statement that made it until it is recorded or given back. */
export interface InFlight {
  claim: DueClaim;
  lane: Lane;
  /** Of performance.now(), before the claiming statement was sent. */
  asOfMs: number;
  /** Epoch. */
  dueMs: number;
  /** Recorded by this process just now. */
  isFresh: boolean;
  /** Null unless its attempt is under way. */
  startedAtMs: number | null;
  /** The pool in which it has a place. */
  pool: Pool | null;
}

export const isBehind = ({ fresh, older }: Outside): boolean => fresh > 0 || older;

/** How many claims a lane has, pending or in flight, and how many it may get. */
export const heldBy = ({ pending, inFlight, reserved }: Lane): number => pending.length + inFlight + reserved;

/** Something is due from `dueFromMs` (epoch) on; null: nobody knows since when. */
export function tell(lane: Lane, dueFromMs: number | null, isFresh: boolean): void {
  lane.cursorMs = Math.min(lane.cursorMs, dueFromMs ?? -Infinity);
  if (isFresh) lane.outside.fresh += 1;
  else lane.outside.older = true;
}

/** Returns where the page begins (epoch). Whatever is told of meanwhile belongs to the next one. */
export function beginPage(lane: Lane, room: number): number {
  const { outside, cursorMs: sinceMs, pool } = lane;
  lane.page = { ...outside, room, sinceMs, pool };
  lane.outside = { fresh: 0, older: false };
  lane.cursorMs = Infinity; // until the page has come, or a notice says otherwise
  return sinceMs;
}

/**
 * A page that was full may be followed by more; after one that was not, nothing is left but what was told of meanwhile.
 */
export function endPage(
  lane: Lane,
  { pulled, lastDueMs, failed }: { pulled: number; lastDueMs: number; failed: boolean },
): void {
  const { room, sinceMs, fresh, older } = lane.page!;
  lane.page = null;
  lane.cursorMs = Math.min(lane.cursorMs, failed ? sinceMs : Math.max(sinceMs, lastDueMs));
  if (!failed && pulled < room) return;
  const freshLeft = Math.max(0, fresh - pulled);
  lane.outside.fresh += freshLeft;
  lane.outside.older ||= older || freshLeft === 0;
}

/**
 * Attempts in flight of one webhook: `first`, of which nothing is known; `slow` and `max`, for those that are slow and
 * quick.
 */
export interface LaneLimits {
  first: number;
  slow: number;
  max: number;
}

const minLimit = 4;

export const laneLimits = (concurrency: number): LaneLimits => ({
  first: Math.min(concurrency, Math.max(2, Math.ceil(concurrency / 20))),
  slow: Math.min(concurrency, Math.max(minLimit, Math.ceil(concurrency / 10))),
  max: Math.max(Math.min(concurrency, minLimit), Math.ceil(concurrency / 2)),
});

export interface Lanes {
  /** The webhook's lane, made if need be. */
  of(webhookId: string): Lane;
  /** The lane if it is known. */
  find(webhookId: string): Lane | undefined;
  all(): Iterable<Lane>;
  shipper(shipperId: string): Shipper | undefined;
  /** The lane belongs to a webhook of this shipper. */
  setShipper(lane: Lane, shipperId: string): void;
}

const maxLanesRemembered = 10_000;

/**
 * The lanes of this process by webhook and by shipper. Those that hold nothing are forgotten when there are too many.
 */
export function createLanes(firstLimit: number): Lanes {
  const lanes = new Map<string, Lane>();
  const shippers = new Map<string, Shipper>();
  let maxLanes = maxLanesRemembered;

  /** Forgetting a lane does no harm: it begins again as an unknown one. */
  const forgetIdle = () => {
    for (const lane of lanes.values()) {
      if (heldBy(lane) > 0 || lane.page || isBehind(lane.outside)) continue;
      lanes.delete(lane.webhookId);
      lane.shipper?.lanes.delete(lane);
      if (lane.shipper?.lanes.size === 0) shippers.delete(lane.shipper.id);
    }
    maxLanes = Math.max(maxLanesRemembered, lanes.size * 1.1); // not for each lane more, where all are busy
  };

  return {
    of: (webhookId) => {
      const known = lanes.get(webhookId);
      if (known) return known;
      if (lanes.size >= maxLanes) forgetIdle();
      const lane: Lane = {
        webhookId,
        shipper: null,
        pool: 'unknown',
        limit: firstLimit,
        pending: [],
        pendingFresh: 0,
        pressure: 0,
        inFlight: 0,
        reserved: 0,
        outside: { fresh: 0, older: false },
        page: null,
        cursorMs: -Infinity,
      };
      lanes.set(webhookId, lane);
      return lane;
    },
    find: (webhookId) => lanes.get(webhookId),
    all: () => lanes.values(),
    shipper: (shipperId) => shippers.get(shipperId),
    setShipper: (lane, shipperId) => {
      const shipper = shippers.get(shipperId) ?? {
        id: shipperId,
        lanes: new Set(),
        held: 0,
        inFlight: eachPool(() => 0),
      };
      shippers.set(shipperId, shipper);
      shipper.lanes.add(lane);
      shipper.held += lane.reserved;
      lane.shipper = shipper;
    },
  };
}
