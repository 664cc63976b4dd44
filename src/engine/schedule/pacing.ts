import { createFairQueue, type FairQueue } from '../../platform/limits/fair-queue.js';
import { Congestion, maxClaimedMs } from './congestion.js';
import type { InFlight, Lane } from './lanes.js';
import { WebhookPace, type Pace, type Starts } from './pace.js';

/** A pace, and the webhooks whose lanes wait for it. */
export interface Paced {
  pace: Pace;
  webhookIds: string[];
}

/** A lane that waits for longer is slowed down. */
const slowedMs = 100;
/** A lane of a webhook with a pace is forgotten once it has been empty for as long. */
const idleMs = 10_000;

/**
 * The lanes that wait for the pace of their host or their webhook, or for what their receiver bears. Such a lane has
 * claims only for what its pace has granted, or will soon, so that it takes no room from others. Shippers take turns at
 * each host.
 */
export class Pacing {
  readonly #waiting = new Map<Pace, FairQueue<Lane>>();
  readonly #ofWebhooks = new Map<WebhookPace, Lane>();
  /** Those of them that have claims. */
  readonly #claiming = new Set<Lane>();
  /** They wait for the time of their next start. */
  readonly #spaced = new Set<Lane>();
  /** They have begun to wait, or to wait for longer, and may have claims. */
  readonly #entered: Lane[] = [];
  /** A claim may wait for a start that is not drawn. */
  isWanted = false;

  /** `queueUp` is called after each change of a lane. */
  constructor(readonly queueUp: (lane: Lane) => void) {}

  /** Whether the lane's next attempt may begin. If not, the lane waits. */
  mayStart(lane: Lane, pace: Pace | WebhookPace, nowMs: number): boolean {
    if (lane.isPaced) {
      if (lane.granted === 0) return false;
      lane.granted -= 1;
      pace.used(1);
      return true;
    }
    if (nowMs < pace.agreedUntilMs) return true;
    if (pace instanceof WebhookPace) this.#ofWebhooks.set(pace, lane);
    else if (!this.#waiting.has(pace) && pace.take(nowMs)) return true;
    else {
      const lanes = this.#waiting.get(pace) ?? createFairQueue<Lane>();
      this.#waiting.set(pace, lanes);
      lanes.add(lane.shipper!.id, lane);
    }
    lane.isPaced = true;
    if (pace instanceof WebhookPace) this.isWanted = true;
    else this.#entered.push(lane);
    this.queueUp(lane);
    return false;
  }

  /** Whether an attempt may go on to a host of this pace, which its lane may not have known when it started. */
  admits({ lane, startedAtMs }: InFlight, pace: Pace | WebhookPace | null, nowMs: number): boolean {
    if (pace !== lane.pace) {
      if (lane.pace) this.#leave(lane, lane.pace, nowMs);
      lane.pace = pace;
      lane.pacedFromMs = nowMs;
    }
    return pace === null || startedAtMs! > lane.pacedFromMs || this.mayStart(lane, pace, nowMs);
  }

  /**
   * Grants what the paces allow by now. A lane that may not use it gets nothing, and what it has goes to others.
   * `giveBack` takes the claims of such lanes, and of those that have begun to wait.
   */
  grant(nowMs: number, mayUse: (lane: Lane) => boolean, giveBack: (lane: Lane) => InFlight[]): InFlight[] {
    const returned = this.#entered.splice(0).flatMap(giveBack);
    for (const [pace, lanes] of this.#waiting) {
      for (const lane of lanes.items()) {
        if (lane.granted === 0 || mayUse(lane)) continue;
        pace.giveBack(lane.granted);
        lane.granted = 0;
        returned.push(...giveBack(lane));
      }
      for (let passed = 0; passed < lanes.size();) {
        const lane = lanes.take()!;
        lane.fullAtMs = lane.pacedAtMs = nowMs;
        const isOver =
          nowMs < pace.agreedUntilMs || (lane.pending.length === 0 && !lane.isBehind && !lane.page);
        if (isOver) {
          this.#leave(lane, pace, nowMs);
          continue;
        }
        lanes.add(lane.shipper!.id, lane);
        passed += 1;
        if (!mayUse(lane)) continue;
        if (!pace.grant(nowMs)) break;
        passed = 0;
        lane.granted += 1;
        this.queueUp(lane);
      }
      if (lanes.size() === 0) this.#waiting.delete(pace);
    }
    return returned;
  }

  /** Call after each change of a lane that is paced. */
  changed(lane: Lane): void {
    if (lane.pending.length > 0 && lane.pace instanceof WebhookPace) this.#claiming.add(lane);
  }

  /** Whether any lane waits for a time. */
  get isTimed(): boolean {
    return this.#claiming.size > 0 || this.#spaced.size > 0;
  }

  /** An attempt of a lane with `congestion` has started. */
  started(lane: Lane, congestion: Congestion, nowMs: number): void {
    congestion.started(nowMs);
    this.#space(lane, congestion, nowMs);
  }

  /** Its receiver was overloaded when an attempt ended, or has not responded to it in time. */
  overloaded({ lane, startedAtMs }: InFlight, retryAfterMs: number, nowMs: number): void {
    lane.congestion ??= new Congestion(lane.limit, lane.limit, -Infinity);
    lane.congestion.overloaded(startedAtMs!, retryAfterMs, nowMs);
    this.#narrow(lane, lane.congestion, nowMs);
  }

  /** The webhook of a lane is called again, and begins with one attempt. `max`: the highest limit. */
  resumed(lane: Lane, max: number, nowMs: number): void {
    lane.congestion ??= new Congestion(max, max, -Infinity);
    lane.congestion.resumed(nowMs);
    this.#narrow(lane, lane.congestion, nowMs);
  }

  /** `max`: the highest limit. A lane that has it, and is quick, is no longer congested. */
  succeeded({ lane, startedAtMs }: InFlight, max: number, nowMs: number): void {
    const { congestion } = lane;
    if (!congestion) return;
    congestion.succeeded(nowMs - startedAtMs!, max, nowMs);
    if (congestion.limit !== lane.limit) lane.setLimit(congestion.limit, nowMs);
    if (lane.pool !== 'quick' || congestion.limit < max) return;
    if (congestion.isTolerant) congestion.isRecovered = true;
    else lane.congestion = null;
  }

  /** An attempt of a lane with `congestion` is still under way. At most `maxHanging` of them are taken to hang. */
  watched(entry: InFlight, congestion: Congestion, afterMs: number, maxHanging: number, nowMs: number): void {
    const { lane, startedAtMs, answeredAtMs, isHanging } = entry;
    const lastsMs = nowMs - startedAtMs!;
    if (isHanging || answeredAtMs !== null || lastsMs < afterMs || !congestion.isHanging(lastsMs)) return;
    if (lane.hanging >= maxHanging) return;
    entry.isHanging = true;
    lane.hanging += 1;
    this.overloaded(entry, 0, nowMs);
    this.queueUp(lane);
  }

  #narrow(lane: Lane, congestion: Congestion, nowMs: number): void {
    lane.setLimit(Math.min(lane.limit, congestion.limit), nowMs);
    this.#space(lane, congestion, nowMs);
    if (lane.pending.length > lane.limit || congestion.nextMs - nowMs > maxClaimedMs)
      this.#entered.push(lane);
  }

  #space(lane: Lane, { nextMs }: Congestion, nowMs: number): void {
    if (nextMs <= nowMs) return;
    lane.isSpaced = true;
    this.#spaced.add(lane);
  }

  /** Lets lanes start whose time has come. Returns when the next one may; Infinity if no delivery waits for that. */
  #release(nowMs: number): number {
    let firstMs = Infinity;
    for (const lane of this.#spaced) {
      const nextMs = lane.congestion?.nextMs ?? -Infinity;
      const waits = lane.pending.length > 0 || lane.isBehind;
      if (waits) lane.fullAtMs = lane.pacedAtMs = nowMs;
      if (waits && nextMs > nowMs) firstMs = Math.min(firstMs, nextMs);
      if (nextMs <= nowMs) {
        lane.isSpaced = false;
        this.#spaced.delete(lane);
      }
      if (nextMs - nowMs <= maxClaimedMs) this.queueUp(lane);
    }
    return firstMs;
  }

  /** Grants what may start by now. Returns when the next one may; Infinity if no claim waits for that. */
  grantStarts(nowMs: number): number {
    let nextMs = this.#release(nowMs);
    for (const lane of this.#claiming) {
      const pace = lane.pace as WebhookPace;
      // Starts that were granted and found no place are lost: saved up, they would be a burst.
      const before = lane.granted;
      if (before < lane.pending.length)
        lane.fullAtMs = lane.pacedAtMs = Math.max(lane.fullAtMs, Math.min(nowMs, pace.nextMs));
      lane.granted = 0;
      while (lane.granted < lane.pending.length && !lane.isFull && pace.take(nowMs)) lane.granted += 1;
      if (lane.granted !== before) this.queueUp(lane);
      if (lane.pending.length === 0) this.#claiming.delete(lane);
      if (lane.granted === lane.pending.length) continue;
      lane.fullAtMs = lane.pacedAtMs = nowMs;
      if (pace.nextMs === Infinity) this.isWanted = true;
      if (!lane.isFull) nextMs = Math.min(nextMs, pace.nextMs);
    }
    return nextMs;
  }

  /** See the scheduler. */
  slowed(fullFrom: number, nowMs: number): string[] {
    return [...this.#spaced].flatMap((lane) => {
      const { congestion, limit } = lane;
      if (!congestion || lane.pacedAtMs < nowMs - slowedMs) return [];
      const isSlowed = limit < fullFrom || congestion.nextMs - nowMs > slowedMs;
      return isSlowed && congestion.isUnmarked(nowMs) ? [lane.webhookId] : [];
    });
  }

  /** The webhooks for which starts are to be drawn, and how many. */
  wanted(nowMs: number): { pace: WebhookPace; count: number }[] {
    this.isWanted = false;
    return [...this.#ofWebhooks].flatMap(([pace, lane]) => {
      if (nowMs < pace.agreedUntilMs || (lane.isEmpty && nowMs - lane.pacedAtMs >= idleMs))
        this.#leave(lane, pace, nowMs);
      if (!lane.isPaced || lane.isFull) return [];
      const { outside, page, pending, granted } = lane;
      if (pending.length > 2 * pace.maxPending) this.#entered.push(lane);
      const isMany = outside.older || page?.older === true;
      const due = isMany ? Infinity : outside.counted + (page?.counted ?? 0);
      const count = pace.wanted(pending.length - granted, due, nowMs);
      return count > 0 ? [{ pace, count }] : [];
    });
  }

  /** `starts`: null if its webhook has no pace any more. */
  drawn(pace: WebhookPace, starts: Starts | null, nowMs: number): void {
    if (starts === null) pace.agreedUntilMs = Infinity;
    else pace.add(starts);
    const lane = this.#ofWebhooks.get(pace);
    if (lane && starts === null) this.#leave(lane, pace, nowMs);
  }

  waiting(): Paced[] {
    return [...this.#waiting].map(([pace, lanes]) => ({
      pace,
      webhookIds: lanes.items().map(({ webhookId }) => webhookId),
    }));
  }

  #leave(lane: Lane, pace: Pace | WebhookPace, nowMs: number): void {
    if (!lane.isPaced) return;
    if (pace instanceof WebhookPace) {
      this.#ofWebhooks.delete(pace);
      this.#claiming.delete(lane);
    } else this.#waiting.get(pace)?.delete(lane.shipper!.id, lane);
    pace.used(lane.granted);
    lane.granted = 0;
    lane.isPaced = false;
    lane.fullAtMs = lane.pacedAtMs = nowMs;
    this.queueUp(lane);
  }
}
