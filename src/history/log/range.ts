import { firstIdOf, timeOfId } from '../../platform/ids.js';

const dayMs = 86_400_000;
/** How far back each range reaches: each day is a partition. */
const reachesMs = [dayMs, 7 * dayMs, Infinity];
/** Another host's clock may be ahead. */
const clockLeewayMs = 3_600_000;
const maxDays = 3;

export interface TimeRange {
  from: Date;
  /** Excluded. */
  before: Date;
}

/**
 * The ranges in which to read a page of the log, newest first, without gaps: `from` (or 1970) to `to` (excluded, or
 * now), no later than the delivery `beforeId`. The newest day nearly always fills the page.
 */
export function rangesOf(
  { from, to }: { from?: Date | undefined; to?: Date | undefined },
  beforeId: string | undefined,
): TimeRange[] {
  const oldest = from?.getTime() ?? 0;
  let before = Math.min(
    to?.getTime() ?? Infinity,
    beforeId === undefined ? Infinity : timeOfId(beforeId) + 1,
    Date.now() + clockLeewayMs,
  );
  const newest = Math.min(before, Date.now());
  const ranges: TimeRange[] = [];
  for (const reachMs of reachesMs) {
    const start = Math.max(oldest, newest - reachMs);
    ranges.push({ from: new Date(start), before: new Date(before) });
    if (start === oldest) break;
    before = start;
  }
  return ranges;
}

/**
 * The days (UTC) of a range as bounds of ids; null if there are too many. Written into the statement instead of passed
 * as parameters, they limit its plan to a few partitions: 5 ms instead of 50 whenever statistics have changed.
 */
export function daysOf(range: TimeRange): { firstId: string; endId: string; today: boolean } | null {
  const first = Math.floor(range.from.getTime() / dayMs);
  const end = Math.ceil(range.before.getTime() / dayMs);
  if (end - first > maxDays) return null;
  const today = Math.floor(Date.now() / dayMs);
  // All reads of the newest pages within a day share one statement.
  const newest = first >= today - 1 && end <= today + 2;
  const [from, to] = newest ? [today - 1, today + 2] : [first, end];
  return { firstId: firstIdOf(from * dayMs), endId: firstIdOf(to * dayMs), today: newest };
}
