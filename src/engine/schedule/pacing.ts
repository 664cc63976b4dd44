import { createFairQueue, type FairQueue } from '../../platform/limits/fair-queue.js';
import type { InFlight, Lane } from './lanes.js';
import type { Pace } from './pace.js';

/** A pace, and the webhooks whose lanes wait for it. */
export interface Paced {
  pace: Pace;
  webhookIds: string[];
}

/**
 * The lanes that wait for the pace of their host. Such a lane has claims only for what its pace has granted, so that it
 * takes no room from others. Shippers take turns at each host.
 */
export class Pacing {
  readonly #waiting = new Map<Pace, FairQueue<Lane>>();
  /** They have begun to wait, and may have claims. */
  readonly #entered: Lane[] = [];

  /** `queueUp` is called after each change of a lane. */
  constructor(readonly queueUp: (lane: Lane) => void) {}

  /** Whether the lane's next attempt may begin. If not, the lane waits. */
  mayStart(lane: Lane, pace: Pace, nowMs: number): boolean {
    if (lane.isPaced) {
      if (lane.granted === 0) return false;
      lane.granted -= 1;
      pace.used(1);
      return true;
    }
    if (pace.isAgreed || (!this.#waiting.has(pace) && pace.take(nowMs))) return true;
    lane.isPaced = true;
    const lanes = this.#waiting.get(pace) ?? createFairQueue<Lane>();
    this.#waiting.set(pace, lanes);
    lanes.add(lane.shipper!.id, lane);
    this.#entered.push(lane);
    this.queueUp(lane);
    return false;
  }

  /** Whether an attempt may go on to a host of this pace, which its lane may not have known when it started. */
  admits({ lane, startedAtMs }: InFlight, pace: Pace | null, nowMs: number): boolean {
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
        const isOver = pace.isAgreed || (lane.pending.length === 0 && !lane.isBehind && !lane.page);
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

  waiting(): Paced[] {
    return [...this.#waiting].map(([pace, lanes]) => ({
      pace,
      webhookIds: lanes.items().map(({ webhookId }) => webhookId),
    }));
  }

  #leave(lane: Lane, pace: Pace, nowMs: number): void {
    if (!lane.isPaced) return;
    this.#waiting.get(pace)?.delete(lane.shipper!.id, lane);
    pace.used(lane.granted);
    lane.granted = 0;
    lane.isPaced = false;
    lane.fullAtMs = lane.pacedAtMs = nowMs;
    this.queueUp(lane);
  }
}
