import { createFairQueue, type FairQueue } from '../../platform/limits/fair-queue.js';
import type { InFlight, Lane } from './lanes.js';
import { WebhookPace, type Pace } from './pace.js';

/** A pace, and the webhooks whose lanes wait for it. */
export interface Paced {
  pace: Pace;
  webhookIds: string[];
}

/** Of a webhook with many due deliveries, as many are drawn at once. */
const maxDrawn = 1_000;
/** A lane of a webhook with a pace is forgotten once it has been empty for as long. */
const idleMs = 10_000;

/**
 * The lanes that wait for the pace of their host or their webhook. Such a lane has claims only for what its pace has
 * granted, or will soon, so that it takes no room from others. Shippers take turns at each host.
 */
export class Pacing {
  readonly #waiting = new Map<Pace, FairQueue<Lane>>();
  readonly #ofWebhooks = new Map<WebhookPace, Lane>();
  /** They have begun to wait, and may have claims. */
  readonly #entered: Lane[] = [];

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
    this.#entered.push(lane);
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

  get hasWebhooks(): boolean {
    return this.#ofWebhooks.size > 0;
  }

  /** Grants the starts of webhooks that have come. Returns when the next one comes; Infinity if no claim waits for one. */
  grantStarts(nowMs: number): number {
    let nextMs = Infinity;
    for (const [pace, lane] of this.#ofWebhooks) {
      const isIdle = lane.isEmpty && nowMs - lane.pacedAtMs >= idleMs;
      if (nowMs < pace.agreedUntilMs || isIdle) {
        this.#leave(lane, pace, nowMs);
        continue;
      }
      // Starts that were granted and found no place are lost: saved up, they would be a burst.
      const before = lane.granted;
      lane.granted = 0;
      while (lane.granted < lane.pending.length && !lane.isFull && pace.take(nowMs)) lane.granted += 1;
      if (lane.granted !== before) this.queueUp(lane);
      const waits = lane.granted < lane.pending.length;
      if (waits || lane.isBehind) lane.fullAtMs = lane.pacedAtMs = nowMs;
      if (waits && !lane.isFull) nextMs = Math.min(nextMs, pace.nextMs);
    }
    return nextMs;
  }

  /** The webhooks for which starts are to be drawn, and how many they could use. */
  wanted(): { pace: WebhookPace; count: number }[] {
    return [...this.#ofWebhooks].flatMap(([pace, lane]) => {
      const count = lane.isFull ? 0 : lane.startsWanted(maxDrawn);
      return count > 0 ? [{ pace, count }] : [];
    });
  }

  /** Null: its webhook has no pace any more. */
  drawn(pace: WebhookPace, starts: number[] | null): void {
    if (starts === null) pace.agreedUntilMs = Infinity;
    else pace.add(starts);
    const lane = this.#ofWebhooks.get(pace);
    if (lane) this.queueUp(lane);
  }

  waiting(): Paced[] {
    return [...this.#waiting].map(([pace, lanes]) => ({
      pace,
      webhookIds: lanes.items().map(({ webhookId }) => webhookId),
    }));
  }

  #leave(lane: Lane, pace: Pace | WebhookPace, nowMs: number): void {
    if (!lane.isPaced) return;
    if (pace instanceof WebhookPace) this.#ofWebhooks.delete(pace);
    else this.#waiting.get(pace)?.delete(lane.shipper!.id, lane);
    pace.used(lane.granted);
    lane.granted = 0;
    lane.isPaced = false;
    lane.fullAtMs = lane.pacedAtMs = nowMs;
    this.queueUp(lane);
  }
}
