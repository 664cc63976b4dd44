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
  load: number;
  /** The sum of its lanes'. */
  pressure: number;
  inFlight: Record<Pool, number>;
}

/** One webhook's deliveries: a slow or dead receiver fills only its own lane. */
export interface Lane {
  readonly webhookId: string;
  /** Null until the first claim. */
  shipper: Shipper | null;
  pool: Pool;
  limit: number;
  limitSinceMs: number;
  /** The longest due first. */
  pending: InFlight[];
  pendingFresh: number;
  pressure: number;
  inFlight: number;
  reserved: number;
  /** Deliveries due in PostgreSQL, as far as this process knows. */
  outside: Outside;
  /** The page under way, with `outside` as it was when the page began. */
  page: (Outside & { room: number; sinceMs: number; pool: Pool }) | null;
  /** Start of the next page (epoch). Nothing earlier is due. */
  cursorMs: number;
}

export interface Outside {
  /** Left by a statement that recorded. */
  fresh: number;
  /** Retries, and claims given back. */
  again: number;
  /** Others, nobody knows how many. */
  older: boolean;
  /** performance.now() when the first of these was notified; Infinity if there are none. */
  notifiedAtMs: number;
}

export type Kind = 'fresh' | 'again' | 'older';

const nothing = (): Outside => ({ fresh: 0, again: 0, older: false, notifiedAtMs: Infinity });

/** A claim, from when this process has it until it is settled or given back. */
export interface InFlight {
  claim: DueClaim;
  lane: Lane;
  /** Its place among all claims of this process. */
  at: number;
  /** performance.now() before the claiming statement was sent. */
  asOfMs: number;
  /** Epoch. */
  dueMs: number;
  isFresh: boolean;
  startedAtMs: number | null;
  pool: Pool | null;
  /** Null until it starts. */
  wait: Wait | null;
}

/** A claim from its start until it is settled. */
export interface Wait {
  /** When the request began; null until then. */
  sentAtMs: number | null;
  /** The pool in whose share its attempt is counted; null while none is under way. */
  counted: Pool | null;
  /** When it last began to read its target or to be settled; without meaning while its attempt is under way. */
  offSinceMs: number;
  /** When the receiver was last full, as seen when the claim started. */
  freeSinceMs: number;
}

export const isBehind = ({ fresh, again, older }: Outside): boolean => fresh + again > 0 || older;

export const loadOf = ({ pending, inFlight, reserved }: Lane): number => pending.length + inFlight + reserved;

/** Something is due from `dueFromMs` (epoch) on; null if that is unknown. */
export function noteDue(lane: Lane, dueFromMs: number | null, kind: Kind, nowMs: number): void {
  const { outside } = lane;
  lane.cursorMs = Math.min(lane.cursorMs, dueFromMs ?? -Infinity);
  outside.notifiedAtMs = Math.min(outside.notifiedAtMs, nowMs);
  if (kind === 'older') outside.older = true;
  else outside[kind] += 1;
}

/** Returns the start of the page (epoch). Later notifications belong to the next page. */
export function beginPage(lane: Lane, room: number): number {
  const { outside, cursorMs: sinceMs, pool } = lane;
  lane.page = { ...outside, room, sinceMs, pool };
  lane.outside = nothing();
  lane.cursorMs = Infinity; // until the page ends or something is notified
  return sinceMs;
}

/** After a full page more may follow; after any other, only what was notified meanwhile. */
export function endPage(
  lane: Lane,
  { pulled, lastDueMs, failed }: { pulled: number; lastDueMs: number; failed: boolean },
): void {
  const { outside, page } = lane;
  const { room, sinceMs, fresh, again, older, notifiedAtMs } = page!;
  lane.page = null;
  lane.cursorMs = Math.min(lane.cursorMs, failed ? sinceMs : Math.max(sinceMs, lastDueMs));
  if (!failed && pulled < room) return;
  const left = Math.max(0, fresh + again - pulled);
  const freshLeft = Math.min(fresh, left);
  outside.fresh += freshLeft;
  outside.again += left - freshLeft;
  outside.older ||= older || left === 0;
  outside.notifiedAtMs = Math.min(outside.notifiedAtMs, notifiedAtMs);
}

/** Attempts in flight of one lane. */
export interface LaneLimits {
  /** In the unknown pool. */
  first: number;
  /** In the slow pool, at first and at most. PostgreSQL takes a receiver with `slowFrom` claims for full. */
  slowFrom: number;
  slow: number;
  /** In the quick pool. */
  max: number;
}

const minLimit = 4;

export const laneLimits = (concurrency: number): LaneLimits => {
  const slow = Math.min(concurrency, Math.max(minLimit, Math.ceil(concurrency / 10)));
  return {
    first: Math.min(concurrency, Math.max(2, Math.ceil(concurrency / 20))),
    slowFrom: Math.ceil(slow / 2),
    slow,
    max: Math.max(Math.min(concurrency, minLimit), Math.ceil(concurrency / 2)),
  };
};

export interface Lanes {
  of(webhookId: string): Lane;
  find(webhookId: string): Lane | undefined;
  all(): Iterable<Lane>;
  shipper(shipperId: string): Shipper | undefined;
  setShipper(lane: Lane, shipperId: string): void;
}

const maxLanesKept = 10_000;

/** Empty lanes are deleted when there are too many. */
export function createLanes(firstLimit: number): Lanes {
  const lanes = new Map<string, Lane>();
  const shippers = new Map<string, Shipper>();
  let maxLanes = maxLanesKept;

  /** A deleted lane starts again in the unknown pool. */
  const deleteEmpty = () => {
    for (const lane of lanes.values()) {
      if (loadOf(lane) > 0 || lane.page || isBehind(lane.outside)) continue;
      lanes.delete(lane.webhookId);
      lane.shipper?.lanes.delete(lane);
      if (lane.shipper?.lanes.size === 0) shippers.delete(lane.shipper.id);
    }
    maxLanes = Math.max(maxLanesKept, lanes.size * 1.1); // avoids a scan per new lane when all are busy
  };

  return {
    of: (webhookId) => {
      const known = lanes.get(webhookId);
      if (known) return known;
      if (lanes.size >= maxLanes) deleteEmpty();
      const lane: Lane = {
        webhookId,
        shipper: null,
        pool: 'unknown',
        limit: firstLimit,
        limitSinceMs: -Infinity,
        pending: [],
        pendingFresh: 0,
        pressure: 0,
        inFlight: 0,
        reserved: 0,
        outside: nothing(),
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
        load: 0,
        pressure: 0,
        inFlight: eachPool(() => 0),
      };
      shippers.set(shipperId, shipper);
      shipper.lanes.add(lane);
      shipper.load += lane.reserved;
      shipper.pressure += lane.pressure;
      lane.shipper = shipper;
    },
  };
}

/**
 * An array in which the last entry takes a removed one's place. Not a Map: in Node 20 an outgrown table of a Map refers to
 * the next, so once one is old, all entries since live until a full collection.
 */
export function createClaims() {
  const all: InFlight[] = [];
  return {
    all: all as readonly InFlight[],
    add: (given: Pick<InFlight, 'claim' | 'lane' | 'asOfMs' | 'isFresh'>): InFlight => {
      const dueMs = given.claim.dueAt.getTime();
      const entry = { ...given, at: all.length, dueMs, startedAtMs: null, pool: null, wait: null };
      all.push(entry);
      return entry;
    },
    /** False if it is no longer there. */
    remove: (entry: InFlight): boolean => {
      if (all[entry.at] !== entry) return false;
      const last = all.pop()!;
      if (last === entry) return true;
      all[entry.at] = last;
      last.at = entry.at;
      return true;
    },
  };
}
