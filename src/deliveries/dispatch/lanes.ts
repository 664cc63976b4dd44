import type { HeldBack } from '../outbox/sendable.js';
import type { DueClaim } from '../outbox/types.js';
import { createOccupancy, mostly, type Occupancy } from './occupancy.js';

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
  inFlight: Record<Pool, number>;
  /** Those of them whose attempt is under way. */
  atReceiver: number;
  /** Full while it has as many attempts in the pool as one shipper may, and the pool has places left. */
  share: Record<Pool, Occupancy>;
}

/** One webhook's deliveries: a slow or dead receiver fills only its own lane. */
export interface Lane {
  readonly webhookId: string;
  /** Null until the first claim. */
  shipper: Shipper | null;
  pool: Pool;
  limit: number;
  /** The longest due first. */
  pending: InFlight[];
  pendingFresh: number;
  pressure: number;
  inFlight: number;
  /** Those of them whose attempt is not under way: they read their target or are being settled. The first for longest. */
  offReceiver: InFlight[];
  /** Null until the first claim starts. */
  occupancy: Occupancy | null;
  reserved: number;
  /** Deliveries due in PostgreSQL, as far as this process knows. */
  outside: Outside;
  /** The page under way, with `outside` as it was when the page began. */
  page: (Outside & { room: number; sinceMs: number; pool: Pool }) | null;
  /** Start of the next page (epoch). Nothing earlier is due. */
  cursorMs: number;
}

export interface Outside {
  fresh: number;
  older: boolean;
}

export interface InFlight {
  claim: DueClaim;
  lane: Lane;
  /** performance.now() before the claiming statement was sent. */
  asOfMs: number;
  /** Epoch. */
  dueMs: number;
  isFresh: boolean;
  startedAtMs: number | null;
  /** Since when it is `offReceiver`, if it is. */
  offSinceMs: number;
  /** When the request began; null until then. */
  sentAtMs: number | null;
  /** Since when the receiver was not full when the claim started. */
  freeSinceMs: number;
  pool: Pool | null;
}

export const isBehind = ({ fresh, older }: Outside): boolean => fresh > 0 || older;

export const loadOf = ({ pending, inFlight, reserved }: Lane): number => pending.length + inFlight + reserved;

/** Something is due from `dueFromMs` (epoch) on; null if that is unknown. */
export function noteDue(lane: Lane, dueFromMs: number | null, isFresh: boolean): void {
  lane.cursorMs = Math.min(lane.cursorMs, dueFromMs ?? -Infinity);
  if (isFresh) lane.outside.fresh += 1;
  else lane.outside.older = true;
}

/** Returns the start of the page (epoch). Later notifications belong to the next page. */
export function beginPage(lane: Lane, room: number): number {
  const { outside, cursorMs: sinceMs, pool } = lane;
  lane.page = { ...outside, room, sinceMs, pool };
  lane.outside = { fresh: 0, older: false };
  lane.cursorMs = Infinity; // until the page ends or something is notified
  return sinceMs;
}

/** After a full page more may follow; after any other, only what was notified meanwhile. */
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

/** For so long a claim that reads its target or is being settled takes a place of its receiver; then it is late, by us. */
const offReceiverMs = 250;

/** Call when the pool, the limit or the claims in flight of a lane have changed. */
export function noteFull(lane: Lane, nowMs: number): void {
  const { inFlight, limit, offReceiver, occupancy, shipper, pool } = lane;
  const late = offReceiver[inFlight - limit];
  const untilMs = late ? late.offSinceMs + offReceiverMs : Infinity;
  occupancy?.set(inFlight >= limit, nowMs, shipper?.share[pool], untilMs);
}

const takeOff = (entry: InFlight, nowMs: number) => {
  entry.offSinceMs = nowMs;
  entry.lane.offReceiver.push(entry);
};
const noLongerOff = ({ offReceiver }: Lane, entry: InFlight) => {
  const at = offReceiver.indexOf(entry);
  if (at >= 0) offReceiver.splice(at, 1);
};

/** Call before the claim takes its place. */
export function noteStart(entry: InFlight, nowMs: number): void {
  const { lane } = entry;
  lane.occupancy ??= createOccupancy(nowMs, lane.shipper?.share[lane.pool]);
  entry.startedAtMs = nowMs;
  entry.freeSinceMs = lane.occupancy.lastFullMs(nowMs);
  lane.inFlight += 1;
  takeOff(entry, nowMs);
  noteFull(lane, nowMs);
}

/** The claim is settled or given back. */
export function noteEnd(entry: InFlight, nowMs: number): void {
  const { lane } = entry;
  lane.inFlight -= 1;
  noLongerOff(lane, entry);
  noteFull(lane, nowMs);
}

export function beginExchange(entry: InFlight, nowMs: number): void {
  const { lane } = entry;
  entry.sentAtMs = nowMs;
  noLongerOff(lane, entry);
  lane.shipper!.atReceiver += 1;
  noteFull(lane, nowMs);
}

/**
 * The claim takes a place of its lane until it is settled, and of its receiver for a moment longer. Returns how long the
 * delivery was sendable before the attempt, which only now shows whether the receiver is slow. If the receiver was full
 * for most of the wait, the moments between two attempts belonged to what was due earlier: only the last one counts.
 * From its start on, a claim has a place at the receiver: reading its target is ours.
 */
export function endExchange(entry: InFlight, nowMs: number, isSlow: boolean): number {
  const { lane, freeSinceMs, asOfMs, claim } = entry;
  const beganAtMs = entry.sentAtMs ?? nowMs;
  const sinceMs = asOfMs - claim.sendableForMs;
  const waitMs = beganAtMs - sinceMs;
  const isSlowLane = isSlow || lane.pool === 'slow';
  const fullMs = lane.occupancy?.fullBetween(sinceMs, entry.startedAtMs ?? beganAtMs, nowMs, isSlowLane) ?? 0;
  lane.shipper!.atReceiver -= 1;
  takeOff(entry, nowMs);
  noteFull(lane, nowMs);
  const sendableMs = Math.max(0, waitMs - fullMs);
  return fullMs > 0 && fullMs >= mostly * waitMs ? Math.min(sendableMs, beganAtMs - freeSinceMs) : sendableMs;
}

/**
 * The claims by webhook that are not at the receiver although it has room: they wait for a place in a pool, or for
 * PostgreSQL. `crowded` lanes wait for their own shipper's attempts. They hold nothing back, but PostgreSQL may see too
 * few claims to know that they are full.
 */
export function heldBack(
  claims: Iterable<InFlight>,
  crowded: Lane[],
  nowMs: number,
): Record<string, HeldBack> {
  const byWebhook: Record<string, HeldBack> = {};
  const isCrowded = new Set(crowded);
  for (const lane of crowded)
    if (loadOf(lane) > 0 || isBehind(lane.outside))
      byWebhook[lane.webhookId] = { count: 0, sendableForMs: 0, freeForMs: 0 };
  for (const { lane, claim, asOfMs, sentAtMs } of claims) {
    if (isCrowded.has(lane) || lane.occupancy?.isFull(nowMs)) continue;
    const wasFullAtMs = lane.occupancy?.lastFullMs(nowMs) ?? -Infinity;
    const freeForMs = wasFullAtMs === -Infinity ? null : nowMs - wasFullAtMs;
    const held = (byWebhook[lane.webhookId] ??= { count: 0, sendableForMs: 0, freeForMs });
    if (sentAtMs !== null) continue;
    held.count += 1;
    held.sendableForMs = Math.max(held.sendableForMs, nowMs - asOfMs + claim.sendableForMs);
  }
  return byWebhook;
}

/** Attempts in flight of one lane: in the unknown pool (`first`), the slow pool and the quick pool (`max`). */
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
        pending: [],
        pendingFresh: 0,
        pressure: 0,
        inFlight: 0,
        offReceiver: [],
        occupancy: null,
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
        load: 0,
        inFlight: eachPool(() => 0),
        atReceiver: 0,
        share: eachPool(() => createOccupancy(0)),
      };
      shippers.set(shipperId, shipper);
      shipper.lanes.add(lane);
      shipper.load += lane.reserved;
      lane.shipper = shipper;
    },
  };
}
