/**
 * How long a receiver had as many attempts as its lane allows. A due delivery waits for its receiver during that time,
 * and for us otherwise. All times are of one monotonic clock, in milliseconds.
 */
export interface Occupancy {
  isFull(nowMs: number): boolean;
  /** When it was last full: `nowMs` if it is, -Infinity if it never was. */
  lastFullMs(nowMs: number): number;
  /**
   * Call after each change; `nowMs` never decreases. A full receiver is full until `untilMs` at most, unless it is set
   * again. While `share` is full, so is the receiver, whatever `isFull` says.
   */
  set(isFull: boolean, nowMs: number, share?: Occupancy, untilMs?: number): void;
  /** How much of the time from `fromMs` to `toMs` was full; none of it was before the first point. */
  sumBetween(fromMs: number, toMs: number): number;
  /**
   * How much of the time from `fromMs` to `toMs` the receiver was full, as known at `nowMs`; `toMs` is not before the
   * first `set`. Another process may have sent before that, or nobody: if the receiver is slow, or has been full for
   * three quarters of the time since (of five seconds at least), it is taken to have been full before; if not, only while
   * its share was.
   */
  fullBetween(fromMs: number, toMs: number, nowMs: number, isSlow: boolean): number;
}

const maxPoints = 128;
const stepMs = 20;
/** Of a point's age: how far it may lie from the next. A month takes 110 points. */
const maxGap = 1 / 6;
/** From this share on a full receiver, and not this process, decides how long things wait. */
export const mostly = 3 / 4;
const provenAfterMs = 5_000;

/** How long the receiver was full from the first point until `atMs`. */
interface Point {
  atMs: number;
  fullMs: number;
}

function thinned(points: Point[], nowMs: number): Point[] {
  const kept = [points.at(-1)!];
  for (let n = points.length - 2; n > 0; n -= 1) {
    const older = points[n - 1]!;
    if (kept.at(-1)!.atMs - older.atMs > maxGap * (nowMs - older.atMs)) kept.push(points[n]!);
  }
  return [...kept, points[0]!].reverse();
}

/**
 * Between its points the sum is interpolated. Changes within a step share a point; the older points are, the fewer are
 * kept. So memory is bounded, and the sum up to a time is wrong by a step or a sixth of its age at most.
 */
export function createOccupancy(sinceMs: number, firstShare?: Occupancy): Occupancy {
  let points: Point[] = [{ atMs: sinceMs, fullMs: 0 }];
  let last: Point & { untilMs: number; share: Occupancy | undefined; wasFullAtMs: number } = {
    atMs: sinceMs,
    fullMs: 0,
    untilMs: -Infinity,
    share: firstShare,
    wasFullAtMs: -Infinity,
  };

  const fullUntil = (atMs: number): number => {
    if (atMs >= last.atMs) {
      const freeFromMs = Math.max(last.atMs, Math.min(atMs, last.untilMs));
      return last.fullMs + freeFromMs - last.atMs + (last.share?.sumBetween(freeFromMs, atMs) ?? 0);
    }
    let after: Point = last;
    for (let n = points.length - 1; n >= 0; n -= 1) {
      const before = points[n]!;
      if (before.atMs <= atMs) {
        const share = (after.fullMs - before.fullMs) / (after.atMs - before.atMs || 1);
        return before.fullMs + share * (atMs - before.atMs);
      }
      after = before;
    }
    return 0;
  };
  const sumBetween = (fromMs: number, toMs: number) => fullUntil(toMs) - fullUntil(fromMs);
  const lastFullMs = (nowMs: number) =>
    Math.max(last.wasFullAtMs, Math.min(last.untilMs, nowMs), last.share?.lastFullMs(nowMs) ?? -Infinity);
  const addPoint = (atMs: number) => {
    if (atMs - points.at(-1)!.atMs < stepMs) return;
    points.push({ atMs, fullMs: fullUntil(atMs) });
    if (points.length <= maxPoints) return;
    points = thinned(points, atMs);
  };

  return {
    isFull: (nowMs) => nowMs < last.untilMs || (last.share?.isFull(nowMs) ?? false),
    lastFullMs,
    sumBetween,
    set: (isFull, nowMs, share, fullUntilMs = Infinity) => {
      const untilMs = isFull && fullUntilMs > nowMs ? fullUntilMs : -Infinity;
      if (untilMs === last.untilMs && share === last.share) return;
      if (last.untilMs < nowMs) addPoint(Math.max(last.atMs, last.untilMs));
      addPoint(nowMs);
      last = { atMs: nowMs, fullMs: fullUntil(nowMs), untilMs, share, wasFullAtMs: lastFullMs(nowMs) };
    },
    fullBetween: (fromMs, toMs, nowMs, isSlow) => {
      const seen = sumBetween(fromMs, toMs);
      if (fromMs >= sinceMs) return seen;
      const wasFull = isSlow || fullUntil(nowMs) >= mostly * Math.max(nowMs - sinceMs, provenAfterMs);
      return seen + (wasFull ? sinceMs - fromMs : (firstShare?.sumBetween(fromMs, sinceMs) ?? 0));
    },
  };
}
