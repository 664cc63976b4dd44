import type { DueClaim } from '../outbox/types.js';
import type { Congestion } from './congestion.js';
import type { Pace, WebhookPace } from './pace.js';

export const pools = ['quick', 'unknown', 'slow'] as const;
export type Pool = (typeof pools)[number];

export const eachPool = <T>(make: () => T): Record<Pool, T> => ({
  quick: make(),
  unknown: make(),
  slow: make(),
});

export interface ShipperLimit {
  /** Attempts in flight of all its lanes in this process. */
  max: number;
  /** The lanes that had no room for a page, in order. */
  waiting: Set<Lane>;
}

export class Shipper {
  readonly lanes = new Set<Lane>();
  /** Claims of all its lanes, and what they have reserved. */
  load = 0;
  /** The sum of its lanes'. */
  excess = 0;
  /** Attempts under way, from their start until they are settled. */
  readonly inFlight = eachPool(() => 0);
  /** The bytes of the large bodies among them. */
  readonly large = eachPool(() => 0);
  /** When it last had as many attempts as one shipper may, while the pool had places left. */
  readonly fullAtMs = eachPool(() => -Infinity);

  /** Null for nearly all shippers. */
  limit: ShipperLimit | null = null;

  constructor(readonly id: string) {}

  get isAtLimit(): boolean {
    if (this.limit === null) return false;
    const { quick, unknown, slow } = this.inFlight;
    return quick + unknown + slow >= this.limit.max;
  }

  /** `max`: undefined if there is no limit. */
  setLimit(max: number | undefined): void {
    this.limit = max === undefined ? null : { max, waiting: new Set() };
  }
}

/** A claim, from when this process has it until it is settled or given back. */
export interface InFlight {
  claim: DueClaim;
  lane: Lane;
  /** The index among all claims of this process. */
  at: number;
  /** performance.now() before the claiming statement was sent. */
  asOfMs: number;
  /** When the delivery was due (epoch). */
  dueMs: number;
  startedAtMs: number | null;
  /** The pool in which the attempt has a place; null before and after it has one. */
  pool: Pool | null;
  /** Since when the delivery has waited for this process, as known at its start. */
  sinceMs: number;
  /** When the request began: until then the target is read. */
  sentAtMs: number | null;
  /** When the attempt ended: from then on it is settled. */
  answeredAtMs: number | null;
  /** It counts in the `hanging` of its lane. */
  isHanging: boolean;
}

/** Deliveries due in PostgreSQL, as far as this process knows. */
interface Outside {
  /** Each of them was notified by itself. */
  counted: number;
  /** There are others, nobody knows how many. */
  older: boolean;
  /** performance.now() when the first of these was notified; Infinity if there are none. */
  notifiedAtMs: number;
}

const nothing = (): Outside => ({ counted: 0, older: false, notifiedAtMs: Infinity });

/**
 * A claim that reads its target or is being settled takes a place at its receiver this long. After that, the delay is
 * ours.
 */
export const offReceiverMs = 250;

/** One webhook's deliveries: a slow or dead receiver fills only its own lane. */
export class Lane {
  /** Null until the first claim. */
  shipper: Shipper | null = null;
  pool: Pool = 'unknown';
  /** When `limit` last changed. */
  limitSinceMs = -Infinity;
  /** The longest due first. */
  pending: InFlight[] = [];
  inFlight = 0;
  /** Room promised to statements under way. */
  reserved = 0;
  /** Deliveries beyond what it would hold of a backlog, if it is quick. */
  excess = 0;
  outside = nothing();
  /** The page under way, with `outside` as it was when the page began, and what it has brought. */
  page: (Outside & { room: number; sinceMs: number; pool: Pool; pulled: number; lastDueMs: number }) | null =
    null;
  /** Start of the next page (epoch). Nothing earlier is due. */
  cursorMs = -Infinity;
  /** The last moment without room: there were as many attempts as `limit`, or as its host's pace allows. */
  fullAtMs = -Infinity;
  /** Until then its attempts count as slow, however long they last. */
  slowUntilMs = -Infinity;
  /** The pace of its webhook or, without one, of its host; null if neither is bounded, or before the first attempt. */
  pace: Pace | WebhookPace | null = null;
  /** Attempts that have started since were allowed by it. */
  pacedFromMs = -Infinity;
  /** When it last waited for its pace. */
  pacedAtMs = -Infinity;
  /** Its attempts start when its pace grants it. */
  isPaced = false;
  granted = 0;
  /** Null unless its receiver was overloaded, or its webhook not called, lately. */
  congestion: Congestion | null = null;
  /** It waits for the time of its next start. */
  isSpaced = false;
  /** Attempts in flight that will hardly end in time: they keep no other from starting. */
  hanging = 0;
  /** When its webhook was called again after a time without (epoch), as far as this process knows. */
  calledAtMs = -Infinity;

  /** `limit`: attempts in flight at most. */
  constructor(
    readonly webhookId: string,
    public limit: number,
  ) {}

  get load(): number {
    return this.pending.length + this.inFlight + this.reserved;
  }

  /** How many claims may wait: at a host's pace those that are granted, at a webhook's some for starts to be drawn, too. */
  get maxPending(): number {
    if (!this.isPaced) return Infinity;
    return this.pace!.maxPending ?? this.granted;
  }

  /** Its pace keeps it waiting. */
  get isHeldBack(): boolean {
    return this.isPaced && this.pending.length >= this.pace!.shortFrom;
  }

  get isCongested(): boolean {
    return this.congestion !== null && !this.congestion.isRecovered;
  }

  /** Its receiver has as many attempts as it may have for now. */
  get isFull(): boolean {
    return this.isSpaced || this.inFlight - this.hanging >= this.limit;
  }

  /** It may start the next one. */
  get isReady(): boolean {
    return this.pending.length > 0 && !this.isFull && (!this.isPaced || this.granted > 0);
  }

  /** Something is due in PostgreSQL. */
  get isBehind(): boolean {
    return this.outside.counted > 0 || this.outside.older;
  }

  get isEmpty(): boolean {
    return this.load === 0 && this.page === null && !this.isBehind;
  }

  /** Since when some of it waits in PostgreSQL; Infinity if nothing does. */
  get behindSinceMs(): number {
    return Math.min(this.outside.notifiedAtMs, this.page?.notifiedAtMs ?? Infinity);
  }

  setLimit(limit: number, nowMs: number): void {
    if (this.isFull) this.fullAtMs = nowMs;
    this.limit = limit;
    this.limitSinceMs = nowMs;
  }

  reserve(room: number): void {
    this.reserved += room;
    if (this.shipper) this.shipper.load += room;
  }

  /** Claims come in the order of their due times, except for a few. */
  enter(entry: InFlight): void {
    const { pending } = this;
    let place = pending.length;
    while (place > 0 && pending[place - 1]!.dueMs > entry.dueMs) place -= 1;
    if (place === pending.length) pending.push(entry);
    else pending.splice(place, 0, entry);
    this.shipper!.load += 1;
  }

  /** Removes them from the pending ones. */
  take(mayGo: (entry: InFlight) => boolean): InFlight[] {
    const going = this.pending.filter(mayGo);
    if (going.length === 0) return going;
    this.pending = this.pending.filter((entry) => !mayGo(entry));
    this.shipper!.load -= going.length;
    return going;
  }

  /** The longest due one. It has waited for us since it could be sent and its receiver was no longer full. */
  start(nowMs: number): InFlight {
    const entry = this.pending.shift()!;
    entry.startedAtMs = nowMs;
    entry.sinceMs = Math.max(
      entry.asOfMs - entry.claim.sendableForMs,
      this.fullAtMs,
      this.shipper!.fullAtMs[this.pool],
    );
    this.inFlight += 1;
    return entry;
  }

  /** An attempt is settled. The lane had room already if that took long. */
  end(entry: InFlight, nowMs: number): void {
    if (this.isFull) this.fullAtMs = Math.max(this.fullAtMs, leftReceiverMs(entry, nowMs));
    this.inFlight -= 1;
    if (entry.isHanging) this.hanging -= 1;
    this.shipper!.load -= 1;
  }

  /** Something is due from `dueFromMs` (epoch) on; null if that is unknown. `one`: one delivery, not unknown many. */
  noteDue(dueFromMs: number | null, one: boolean, nowMs: number): void {
    this.cursorMs = Math.min(this.cursorMs, dueFromMs ?? -Infinity);
    this.outside.notifiedAtMs = Math.min(this.outside.notifiedAtMs, nowMs);
    if (one) this.outside.counted += 1;
    else this.outside.older = true;
  }

  /** Returns the start of the page (epoch). Later notifications belong to the next page. */
  beginPage(room: number): number {
    const sinceMs = this.cursorMs;
    this.page = { ...this.outside, room, sinceMs, pool: this.pool, pulled: 0, lastDueMs: sinceMs };
    this.outside = nothing();
    this.cursorMs = Infinity; // until the page ends or something is notified
    return sinceMs;
  }

  notePulled(dueMs: number): void {
    this.page!.pulled += 1;
    this.page!.lastDueMs = Math.max(this.page!.lastDueMs, dueMs);
  }

  /** After a full page more may follow; after any other, only what was notified meanwhile. */
  endPage(failed: boolean): void {
    const { outside } = this;
    const { room, counted, older, notifiedAtMs, pulled, lastDueMs } = this.page!;
    this.page = null;
    this.cursorMs = Math.min(this.cursorMs, lastDueMs);
    if (!failed && pulled < room) return;
    const left = Math.max(0, counted - pulled);
    outside.counted += left;
    outside.older ||= older || left === 0;
    outside.notifiedAtMs = Math.min(outside.notifiedAtMs, notifiedAtMs);
  }
}

/** Probes and redeliveries may start although their webhook is not called. */
export const isReturnable = ({ claim }: InFlight): boolean => !claim.isProbe && claim.trigger !== 'MANUAL';

/** The time until which an attempt that ends now had a place at its receiver. */
export const leftReceiverMs = ({ answeredAtMs, startedAtMs }: InFlight, nowMs: number): number =>
  Math.min(nowMs, (answeredAtMs ?? startedAtMs!) + offReceiverMs);

/** Attempts in flight of one lane. */
export interface LaneLimits {
  /** The limit in the unknown pool. */
  first: number;
  /**
   * The limit in the slow pool at first, and at most. A receiver with `slowFrom` claims counts as full in PostgreSQL.
   */
  slowFrom: number;
  slow: number;
  /** The highest limit in the quick pool. */
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

const maxLanesKept = 10_000;

/** All lanes of a process. Empty ones are deleted when there are too many. */
export class Lanes {
  readonly #lanes = new Map<string, Lane>();
  readonly #shippers = new Map<string, Shipper>();
  /** The attempts in flight that an operator allows single shippers. */
  limits: ReadonlyMap<string, number> = new Map();
  #maxLanes = maxLanesKept;

  constructor(readonly firstLimit: number) {}

  of(webhookId: string): Lane {
    const known = this.#lanes.get(webhookId);
    if (known) return known;
    if (this.#lanes.size >= this.#maxLanes) this.#deleteEmpty();
    const lane = new Lane(webhookId, this.firstLimit);
    this.#lanes.set(webhookId, lane);
    return lane;
  }

  find(webhookId: string): Lane | undefined {
    return this.#lanes.get(webhookId);
  }

  all(): Iterable<Lane> {
    return this.#lanes.values();
  }

  shippers(): Iterable<Shipper> {
    return this.#shippers.values();
  }

  shipper(shipperId: string): Shipper | undefined {
    return this.#shippers.get(shipperId);
  }

  setShipper(lane: Lane, shipperId: string): void {
    const shipper = this.#shippers.get(shipperId) ?? this.#addShipper(shipperId);
    shipper.lanes.add(lane);
    shipper.load += lane.reserved;
    shipper.excess += lane.excess;
    lane.shipper = shipper;
  }

  #addShipper(shipperId: string): Shipper {
    const shipper = new Shipper(shipperId);
    shipper.setLimit(this.limits.get(shipperId));
    this.#shippers.set(shipperId, shipper);
    return shipper;
  }

  /** A deleted lane starts again in the unknown pool. */
  #deleteEmpty(): void {
    for (const lane of this.#lanes.values()) {
      if (!lane.isEmpty || lane.isPaced) continue;
      this.#lanes.delete(lane.webhookId);
      lane.shipper?.lanes.delete(lane);
      if (lane.shipper?.lanes.size === 0) this.#shippers.delete(lane.shipper.id);
    }
    this.#maxLanes = Math.max(maxLanesKept, this.#lanes.size * 1.1); // avoids a scan per new lane when all are busy
  }
}
