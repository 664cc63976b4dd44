/** The monotonic clock of the machine, which is the same in each thread. */
export function monotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1_000 + nanoseconds / 1e6;
}

/** Each thread's performance.now() has its own origin. The thread may wait for a CPU between the two readings. */
const originMs = Math.max(...Array.from({ length: 10 }, () => monotonicMs() - performance.now()));

export const monotonicOf = (hereMs: number): number => hereMs + originMs;

/** How far PostgreSQL's clock is ahead of the monotonic one, which no change of the machine's clock moves. */
let databaseAheadMs = Date.now() - monotonicMs();

/** The time (epoch) by PostgreSQL's clock, which many machines share, and which receivers must agree with. */
export const databaseNowMs = (): number => Math.floor(monotonicMs() + databaseAheadMs);

/**
 * PostgreSQL told `databaseMs` between `sentAtMs` (performance.now()) and now. The clock moves no further than that
 * demands: where the machine's clock is right, it does not move at all.
 */
export function heedDatabaseTime(databaseMs: number, sentAtMs: number): void {
  const maxAheadMs = databaseMs - monotonicOf(sentAtMs);
  const minAheadMs = databaseMs - monotonicMs();
  databaseAheadMs = Math.min(Math.max(databaseAheadMs, minAheadMs), maxAheadMs);
}

/** The offset that another thread of this process passes to `followDatabaseClock`. */
export const databaseClockAheadMs = (): number => databaseAheadMs;

export function followDatabaseClock(aheadMs: number): void {
  databaseAheadMs = aheadMs;
}

/** How far the machine's clock is ahead of PostgreSQL's. */
export const machineAheadMs = (): number => Date.now() - monotonicMs() - databaseAheadMs;
