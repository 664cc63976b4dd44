/**
 * One lane per webhook: how many of its attempts may be under way in this process, and what waits for that. A slow
 * or dead receiver fills its own lane and nothing else.
 */
export interface Lanes {
  /** Takes a place in the webhook's lane; false if it is full. */
  enter(webhookId: string): boolean;
  /** Keeps a delivery until its lane has room; false if too many wait there already: PostgreSQL keeps it then. */
  wait(webhookId: string, deliveryId: string): boolean;
  /** Gives a place back; `durationMs` of the attempt, null if none was made. */
  leave(webhookId: string, durationMs: number | null): void;
  /** Takes places for deliveries that waited; their ids. */
  admitWaiting(webhookId: string): string[];
  /** An attempt has been under way for long: from now on the webhook counts as slow. */
  markSlow(webhookId: string): void;
  isSlow(webhookId: string): boolean;
  /** True once after many waited or some were turned away, and all that waited was admitted: PostgreSQL may have more. */
  wantsMore(webhookId: string): boolean;
  /** Nothing waits and not all places are taken. */
  hasRoom(webhookId: string): boolean;
  /** More waits than can be under way, and the receiver is quick: other workers may help. */
  wantsHelp(webhookId: string): boolean;
  /** Empties all lanes of what waits in them. */
  emptyWaiting(): { webhookId: string; deliveryId: string }[];
  /** What PostgreSQL gave was not all. */
  expectMore(webhookId: string): void;
}

/** Attempts longer than this are slow. */
export const slowMs = 1_000;
const mostWaiting = 2_000;
const manyWaiting = 200;
const mostWaitingInAll = 20_000;
const fewest = 4;
const rememberedLanes = 10_000;

interface Lane {
  active: number;
  /** Doubles with each quick attempt; a slow one sets it back. */
  limit: number;
  slow: boolean;
  waiting: Set<string>;
  mayHaveMore: boolean;
}

export function createLanes(concurrency: number): Lanes {
  const lanes = new Map<string, Lane>();
  let waitingInAll = 0;
  const highest = Math.max(Math.min(concurrency, fewest), Math.ceil(concurrency / 2));
  const first = Math.min(concurrency, Math.max(2, Math.ceil(concurrency / 20)));
  const slowLimit = Math.min(concurrency, Math.max(fewest, Math.ceil(concurrency / 10)));

  const laneOf = (webhookId: string): Lane => {
    const known = lanes.get(webhookId);
    if (known) return known;
    if (lanes.size >= rememberedLanes) forgetIdle();
    const lane = { active: 0, limit: first, slow: false, waiting: new Set<string>(), mayHaveMore: false };
    lanes.set(webhookId, lane);
    return lane;
  };
  const forgetIdle = () => {
    for (const [webhookId, lane] of lanes) {
      if (lane.active === 0 && lane.waiting.size === 0 && !lane.mayHaveMore) lanes.delete(webhookId);
    }
  };

  const enter = (webhookId: string) => {
    const lane = laneOf(webhookId);
    if (lane.active >= lane.limit) return false;
    lane.active += 1;
    return true;
  };
  const slowDown = (lane: Lane) => {
    lane.slow = true;
    lane.limit = slowLimit;
  };

  return {
    enter,
    wait: (webhookId, deliveryId) => {
      const lane = laneOf(webhookId);
      if (lane.waiting.has(deliveryId)) return true;
      if (lane.waiting.size >= mostWaiting || waitingInAll >= mostWaitingInAll) {
        lane.mayHaveMore = true;
        return false;
      }
      lane.waiting.add(deliveryId);
      waitingInAll += 1;
      // Where so many wait, a worker that is gone by now may have turned more away.
      if (lane.waiting.size >= manyWaiting) lane.mayHaveMore = true;
      return true;
    },
    leave: (webhookId, durationMs) => {
      const lane = laneOf(webhookId);
      lane.active -= 1;
      if (durationMs === null) return;
      if (durationMs >= slowMs) slowDown(lane);
      else {
        lane.slow = false;
        lane.limit = Math.min(highest, lane.limit * 2);
      }
    },
    admitWaiting: (webhookId) => {
      const lane = laneOf(webhookId);
      const admitted: string[] = [];
      // A handful at a time: claims that share a statement cost a fraction of single ones.
      if (lane.limit - lane.active < Math.min(lane.waiting.size, Math.ceil(lane.limit / 4))) return admitted;
      for (const deliveryId of lane.waiting) {
        if (!enter(webhookId)) break;
        lane.waiting.delete(deliveryId);
        waitingInAll -= 1;
        admitted.push(deliveryId);
      }
      return admitted;
    },
    markSlow: (webhookId) => slowDown(laneOf(webhookId)),
    isSlow: (webhookId) => laneOf(webhookId).slow,
    wantsMore: (webhookId) => {
      const lane = laneOf(webhookId);
      if (!lane.mayHaveMore || lane.waiting.size > 0) return false;
      lane.mayHaveMore = false;
      return true;
    },
    hasRoom: (webhookId) => {
      const lane = laneOf(webhookId);
      return lane.waiting.size === 0 && lane.active < lane.limit;
    },
    wantsHelp: (webhookId) => {
      const lane = laneOf(webhookId);
      return !lane.slow && lane.waiting.size > lane.limit;
    },
    emptyWaiting: () =>
      [...lanes].flatMap(([webhookId, { waiting }]) => {
        const emptied = [...waiting].map((deliveryId) => ({ webhookId, deliveryId }));
        waiting.clear();
        waitingInAll -= emptied.length;
        return emptied;
      }),
    expectMore: (webhookId) => void (laneOf(webhookId).mayHaveMore = true),
  };
}
