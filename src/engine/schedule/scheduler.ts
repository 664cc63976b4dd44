import { createFairQueue, type FairQueue } from '../../platform/limits/fair-queue.js';
import { noRoom, type Due, type Room, type DueClaim } from '../outbox/types.js';
import { Claims } from './claims.js';
import {
  eachPool,
  isReturnable,
  laneLimits,
  Lanes,
  leftReceiverMs,
  pools,
  type InFlight,
  type Lane,
  type Pool,
} from './lanes.js';
import type { Sign } from './congestion.js';
import type { Pace, WebhookPace } from './pace.js';
import { Pacing } from './pacing.js';
import {
  heldBack,
  passedOverMs,
  Places,
  type Budget,
  type HeldBack,
  type OrdersUnderWay,
  type Page,
} from './places.js';
import { assumedWebhooks, Reservations } from './reservations.js';
import { ShipperLimits } from './shipper-limits.js';

const maxLanesPerPage = 200;
const maxClaimsPerPage = 200;

/**
 * Decides which delivery starts, which lane is pulled, which claims are given back and whether an order is admitted. It
 * is pure: no I/O, no timers, and the clock is passed in (`nowMs`: performance.now()).
 *
 * A claim is in one of three states:
 *
 *   state      enters by                           leaves by
 *   pending    claimed(): a page, a recording,     starts(): there is a place in its pool, its lane is below its
 *              a probe or a redelivery             limit, and it is the lane's longest due
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
 * The limit of a lane whose receiver was overloaded is what that bears (`Congestion`).
 * The limit of a lane that becomes slow is what it has in flight, but at least half of that tenth. It grows by one each
 * slowMs, so that the attempts at many receivers that hang neither start nor time out at the same moment.
 *
 * A free place goes to the next shipper in rotation (first to one with less than a tenth of the pool), then to that
 * shipper's next lane, then to that lane's longest due.
 * A delivery that does not start waits for a place (its pool is full, or its shipper has half of the slow or unknown
 * places), for its lane (`limit` attempts in flight), or in PostgreSQL for its lane's next page, which is pulled as
 * soon as the lane has room. Until then newer deliveries of its lane go first for `passedOverMs` at most; if it is one
 * of unknown many, not at all.
 *
 * An order is admitted while the process can soon start all that it holds for quick receivers, with what the orders
 * under way will owe, and its shipper's quick lanes are not full; a shipper with few claims always is. So the statement
 * that records an order claims all that it owes, and what is left in PostgreSQL waits for its receiver.
 */
export class Scheduler {
  readonly #slowMs: number;
  readonly #limits: ReturnType<typeof laneLimits>;
  readonly #lanes: Lanes;
  readonly #claims = new Claims();
  readonly #places: Places;
  readonly #reservations: Reservations;
  /** Lanes with something to start and room for it. */
  readonly #ready = eachPool<FairQueue<Lane>>(createFairQueue);
  /** Lanes with something due in PostgreSQL and no page under way. */
  readonly #toFill = createFairQueue<Lane>();
  readonly pacing = new Pacing((lane) => this.#queueUp(lane));
  readonly limits: ShipperLimits;
  /** Halved when a page fails, so that a lane that cannot be pulled does not delay the others. */
  #lanesPerPage = maxLanesPerPage;
  /** Since when the process has been too full for the pages of some lanes; Infinity if it is not. */
  #tooFullSinceMs = Infinity;
  #stopped = false;

  /** `concurrency`: places in the quick pool. */
  constructor({ concurrency, slowMs }: { concurrency: number; slowMs: number }) {
    this.#slowMs = slowMs;
    this.#limits = laneLimits(concurrency);
    this.#lanes = new Lanes(this.#limits.first);
    this.limits = new ShipperLimits(this.#lanes, (lane) => this.#queueUp(lane));
    this.#places = new Places(concurrency);
    this.#reservations = new Reservations(this.#lanes, this.#places);
  }

  /** `one`: one delivery each, that this process knows; else unknown many. */
  notify(due: Due[], one: boolean, nowMs: number): void {
    for (const { webhookId, dueFromMs } of due) {
      const lane = this.#lanes.of(webhookId);
      lane.noteDue(dueFromMs, one, nowMs);
      this.#queueUp(lane);
    }
  }

  hasRoomForOrder(shipperId: string, { ofShipper, all }: OrdersUnderWay, nowMs: number): boolean {
    const shipper = this.#lanes.shipper(shipperId);
    if (!shipper) return true;
    const own = ofShipper * shipper.lanes.size;
    if (this.#places.hasFew(shipper, own)) return true;
    if (shipper.excess > 0 && !shipper.limit) return false;
    return this.#places.hasRoomForOrder(own + (all - ofShipper) * assumedWebhooks, nowMs);
  }

  /** One shipper's id per event. `claimed` releases it. A lane that is behind gets no room: older ones go first. */
  reserve(shipperIds: string[], nowMs: number): Room {
    if (this.#stopped) return noRoom;
    return this.#reservations.make(shipperIds, nowMs - this.#tooFullSinceMs >= passedOverMs, nowMs);
  }

  /** `asOfMs`: performance.now() before the statement was sent. */
  claimed(claims: DueClaim[], asOfMs: number, from: Room | Page | null): void {
    const page = from !== null && 'wanted' in from ? from : null;
    if (from !== null && 'total' in from)
      for (const lane of this.#reservations.release(from)) this.#queueUp(lane);
    for (const claim of claims) {
      const { lane, dueMs } = this.#enter(claim, asOfMs);
      if (page) lane.notePulled(dueMs);
    }
    if (!page) return;
    this.#lanesPerPage = Math.min(maxLanesPerPage, this.#lanesPerPage * 2);
    this.#endPages(page, false);
  }

  /** A page was not claimed: its deliveries are still due in PostgreSQL. */
  pageFailed(page: Page): void {
    this.#lanesPerPage = Math.max(1, Math.floor(page.wanted.length / 2));
    this.#endPages(page, true);
  }

  /** The returned attempts start now. */
  starts(nowMs: number): InFlight[] {
    const started: InFlight[] = [];
    if (this.#stopped) return started;
    for (const pool of pools)
      for (let next = this.#startNext(pool, nowMs); next; next = this.#startNext(pool, nowMs))
        started.push(next);
    return started;
  }

  /** The page has as many lanes as may share a statement; null if no lane has both something due and room. */
  nextPage(nowMs: number): Page | null {
    if (this.#stopped || this.#toFill.size() === 0) return null;
    const budget = this.#places.budget(nowMs);
    const fillable = this.#fillableLanes(budget, nowMs);
    // Ten thousand webhooks may have one delivery due each: small shares reach all of them soon.
    const share = Math.ceil(maxClaimsPerPage / Math.max(1, fillable.length));
    const page: Page = { wanted: [] };
    for (const lane of fillable) {
      const room = Math.min(this.#places.forPageIn(lane, nowMs), this.#places.forPages(lane, budget), share);
      if (room > 0) {
        lane.reserve(room);
        this.#places.awaited[lane.pool] += room;
        page.wanted.push({ webhookId: lane.webhookId, room, sinceMs: lane.beginPage(room) });
      }
      this.#queueUp(lane);
    }
    return page.wanted.length > 0 ? page : null;
  }

  /** Moves what is in flight for longer than `slowMs` to the slow pool. Returns claims to give back. */
  slow(nowMs: number): InFlight[] {
    const takeBack = (lane: Lane) => this.#takePending(lane, isReturnable);
    const mayUse = (lane: Lane) => this.#places.hasPlaceFor(lane);
    const returned = [...this.pacing.grant(nowMs, mayUse, takeBack), ...this.limits.full().flatMap(takeBack)];
    for (const entry of this.#claims.all) {
      const { lane, pool, startedAtMs } = entry;
      const mayGrow = lane.pool === 'slow' && lane.congestion === null && lane.limit < this.#limits.slow;
      if (mayGrow && nowMs - lane.limitSinceMs >= this.#slowMs) {
        lane.setLimit(lane.limit + 1, nowMs);
        this.#queueUp(lane);
      }
      if (startedAtMs !== null && lane.congestion !== null)
        this.pacing.watched(entry, lane.congestion, this.#slowMs, this.#limits.slow, nowMs);
      if (startedAtMs === null || pool === 'slow' || nowMs - startedAtMs < this.#slowMs) continue;
      if (lane.pool !== 'slow') {
        this.#moveToSlow(lane, nowMs);
        returned.push(...this.#takePending(lane)); // claims would wait too long in this lane
      }
      if (pool !== null && this.#places.mayMoveToSlow(entry)) this.#places.leave(entry, 'slow', nowMs);
    }
    return returned;
  }

  /** The target is known. `pace`: its host's. False if that allows no attempt yet: give the claim back. */
  sending(entry: InFlight, nowMs: number, pace: Pace | WebhookPace | null = null): boolean {
    const isAdmitted = this.pacing.admits(entry, pace, nowMs);
    if (isAdmitted) entry.sentAtMs = nowMs;
    return isAdmitted;
  }

  /**
   * The attempt has ended; the claim is still to be settled. Returns for how many milliseconds at least the delivery
   * was sendable before: from when it was due and its webhook was called, and from the last moment at which its receiver
   * had as many attempts as its lane allows, or its shipper as many as one may have. Of a receiver that is slow only the
   * time since the claim counts: who has sent to it before is not known here.
   */
  answered(entry: InFlight, nowMs: number): number {
    const { lane, startedAtMs, asOfMs } = entry;
    entry.answeredAtMs = nowMs;
    const isSlow = lane.pool === 'slow' || nowMs - startedAtMs! >= this.#slowMs;
    const sinceMs = isSlow ? Math.max(entry.sinceMs, asOfMs) : entry.sinceMs;
    return Math.max(0, (entry.sentAtMs ?? nowMs) - sinceMs);
  }

  /** A second call has no effect. `durationMs`: null without an attempt. `retryAfterMs`: 0 without that header. */
  ended(
    entry: InFlight,
    durationMs: number | null,
    nowMs: number,
    sign: Sign = null,
    retryAfterMs = 0,
  ): void {
    if (!this.#claims.remove(entry)) return;
    const { lane, startedAtMs } = entry;
    if (startedAtMs !== null) {
      this.#places.leave(entry, null, leftReceiverMs(entry, nowMs));
      lane.end(entry, nowMs);
    }
    const isOverloaded = sign === 'OVERLOADED';
    if (durationMs !== null && durationMs >= this.#slowMs) {
      if (lane.pool !== 'slow') this.#moveToSlow(lane, nowMs);
    } else if (durationMs !== null && !(isOverloaded && lane.pool === 'slow')) {
      const grows = lane.congestion === null && !isOverloaded;
      this.#moveTo(lane, 'quick', grows ? Math.min(this.#limits.max, lane.limit * 2) : lane.limit, nowMs);
    }
    if (isOverloaded) this.pacing.overloaded(entry, retryAfterMs, nowMs);
    else if (sign === 'SUCCEEDED' && lane.congestion !== null)
      this.pacing.succeeded(entry, this.#maxOf(lane), nowMs);
    this.limits.queueUp(lane);
  }

  /** Returns their pending claims, to be given back, except probes and redeliveries, which may start all the same. */
  returnPending(webhookIds: string[]): InFlight[] {
    return webhookIds.flatMap((webhookId) => {
      const lane = this.#lanes.find(webhookId);
      return lane ? this.#takePending(lane, isReturnable) : [];
    });
  }

  /** A lane has room for as many redeliveries as attempts. `ofOthers`: the room of a webhook that has none. */
  roomForRedeliveries(): Omit<Room, 'total'> {
    return { byWebhook: this.#claims.roomForRedeliveries(), ofOthers: this.#limits.first };
  }

  stop(): InFlight[] {
    this.#stopped = true;
    return [...this.#lanes.all()].flatMap((lane) => this.#takePending(lane));
  }

  claims(): readonly InFlight[] {
    return this.#claims.all;
  }

  isHolding(): boolean {
    return this.#claims.all.length > 0 || this.#reservations.size > 0;
  }

  /** Webhooks with something due in PostgreSQL, as far as this process knows. */
  behind(): Due[] {
    return [...this.#lanes.all()].flatMap(({ webhookId, isBehind, cursorMs }) =>
      isBehind ? [{ webhookId, dueFromMs: Number.isFinite(cursorMs) ? cursorMs : null }] : [],
    );
  }

  /** Webhooks whose receivers bear so little that PostgreSQL may not see that they are full; each now and then. */
  slowed(nowMs: number): string[] {
    return this.pacing.slowed(this.#limits.slowFrom, nowMs);
  }

  /** Claims, grouped by webhook, that wait for this process and not for their receiver. */
  heldBack(nowMs: number): Record<string, HeldBack> {
    return heldBack(this.#claims.all, this.#lanes, this.#places, nowMs);
  }

  /** Whether an attempt that is settled lets another one start: its lane is full, or its shipper has all it may. */
  get isAwaited(): boolean {
    return this.#claims.all.some(({ lane }) => lane.isFull || lane.shipper!.isAtLimit);
  }

  get inFlight(): Readonly<Record<Pool, number>> {
    return this.#places.inFlight;
  }

  /** Call after each change of a lane. */
  #queueUp(lane: Lane): void {
    const key = lane.shipper?.id ?? '';
    if (lane.isPaced) this.pacing.changed(lane);
    if (lane.isReady) this.#ready[lane.pool].add(key, lane);
    else this.#ready[lane.pool].delete(key, lane);
    if (lane.isBehind && !lane.page) this.#toFill.add(key, lane);
    const more = this.#places.excess(lane) - lane.excess;
    lane.excess += more;
    if (lane.shipper) lane.shipper.excess += more;
  }

  #moveTo(lane: Lane, pool: Pool, limit: number, nowMs: number): void {
    if (pool !== lane.pool) {
      this.#ready[lane.pool].delete(lane.shipper?.id ?? '', lane);
      this.#places.pending[lane.pool] -= lane.pending.length;
      this.#places.pending[pool] += lane.pending.length;
      lane.pool = pool;
    }
    if (limit !== lane.limit) lane.setLimit(limit, nowMs);
  }

  #moveToSlow(lane: Lane, nowMs: number): void {
    const { slow, slowFrom } = this.#limits;
    const most = lane.congestion === null ? slow : Math.min(slow, lane.limit);
    const limit = Math.min(most, Math.max(slowFrom, lane.inFlight));
    this.#moveTo(lane, 'slow', limit, nowMs);
    lane.limitSinceMs = nowMs;
  }

  #maxOf({ pool }: Lane): number {
    return pool === 'slow' ? this.#limits.slow : this.#limits.max;
  }

  #enter(claim: DueClaim, asOfMs: number): InFlight {
    const lane = this.#lanes.of(claim.webhookId);
    if (!lane.shipper) {
      this.#toFill.delete('', lane);
      this.#lanes.setShipper(lane, claim.shipperId);
    }
    if (claim.stoppedBy && !claim.isProbe && claim.calledAt!.getTime() > lane.calledAtMs) {
      lane.calledAtMs = claim.calledAt!.getTime();
      this.pacing.resumed(lane, this.#maxOf(lane), asOfMs);
    }
    const entry = this.#claims.add(claim, lane, asOfMs);
    lane.enter(entry);
    this.#places.pending[lane.pool] += 1;
    this.#queueUp(lane);
    return entry;
  }

  #takePending(lane: Lane, mayGo: (entry: InFlight) => boolean = () => true): InFlight[] {
    const going = lane.take(mayGo);
    this.#places.pending[lane.pool] -= going.length;
    if (going.length > 0) this.#queueUp(lane);
    return going;
  }

  #startNext(pool: Pool, nowMs: number): InFlight | null {
    const places = this.#places;
    if (!places.hasFree(pool)) return null;
    const ready = this.#ready[pool];
    let lane: Lane | undefined;
    do {
      lane =
        ready.take((shipperId) => places.isLight(this.#lanes.shipper(shipperId)!, pool)) ??
        ready.take((shipperId) => places.mayStart(this.#lanes.shipper(shipperId)!, pool));
      if (!lane) return null;
    } while (lane.pace && !this.pacing.mayStart(lane, lane.pace, nowMs));
    const entry = lane.start(nowMs);
    if (lane.isCongested) this.pacing.started(lane, lane.congestion!, nowMs);
    entry.pool = pool;
    places.pending[pool] -= 1;
    places.take(entry, nowMs);
    this.#queueUp(lane);
    return entry;
  }

  #endPages(page: Page, failed: boolean): void {
    for (const { webhookId } of page.wanted) {
      const lane = this.#lanes.of(webhookId);
      const { room, pool } = lane.page!;
      lane.reserve(-room);
      this.#places.awaited[pool] -= room;
      lane.endPage(failed);
      this.limits.queueUp(lane);
    }
  }

  /** A lane without room of its own is queued again when it has some. */
  #fillableLanes(budget: Budget, nowMs: number): Lane[] {
    const [fillable, tooMany]: [Lane[], Lane[]] = [[], []];
    while (fillable.length < this.#lanesPerPage && tooMany.length < maxLanesPerPage) {
      const lane = this.#toFill.take();
      if (!lane) break;
      if (lane.page || !lane.isBehind || this.#places.forPageIn(lane, nowMs) === 0) continue;
      (this.#places.forPages(lane, budget) > 0 ? fillable : tooMany).push(lane);
    }
    for (const lane of tooMany) this.#queueUp(lane);
    const isTooFull = tooMany.some(({ pool }) => pool !== 'slow');
    this.#tooFullSinceMs = isTooFull ? Math.min(this.#tooFullSinceMs, nowMs) : Infinity;
    return fillable;
  }
}
