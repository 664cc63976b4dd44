/** Durations that are not configurable, in one place so that tests can scale them. */
export interface Durations {
  /** After a kill -9 the delivery is claimed again once the lease has expired. */
  leaseMs: number;
  /** An older claim is checked again before it is sent, so stopping a webhook takes at most this long. */
  maxStartMs: number;
  /** Added to `maxStartMs`: the process may stall between reading the clock and sending the first byte. */
  startMarginMs: number;
  sweepEveryMs: number;
  /** The pause between sweeps of orders, redeliveries and the like. */
  sweepRestEveryMs: number;
  /** The pause of a sweep that has nothing to do, unless it is woken. */
  sweepIdleMs: number;
  /** Readiness expects a canary job in each queue every 30 s. */
  canaryEveryMs: number;
  /** A delivery that has been due for longer is reported. */
  unattendedAfterMs: number;
  /** The sweeper takes up no expired lease for this long after an outage: its holder could not renew it. */
  outageGraceMs: number;
  /** At low load an outcome waits this long to share a statement with others. `awaitedMs`: its place is awaited. */
  linger: { idleMs: number; awaitedMs: number };
  /** An attempt that lasts longer moves its lane to the slow pool. */
  slowMs: number;
  /** An outcome is kept in memory for this long while PostgreSQL is down. */
  patienceMs: number;
  replayEveryMs: number;
  /** The pause before an e-mail is tried a second time; it doubles. */
  mailRetryMs: number;
  /** How long the notices beyond a day's mails are collected, and the pause between two summaries of them. */
  summary: { gatherMs: number; pauseMs: number };
  foldEveryMs: number;
  /** A scrape reads the figures of the backlog again if they are older than this. */
  gaugesEveryMs: number;
  /** A removed shipper's last rows are deleted once no new rows have appeared for this long. */
  removedQuietMs: number;
  /** How long a circuit counts, and how long it stays open. `failingAfterMs`: a webhook fails without a success for so long. */
  circuit: { windowMs: number; firstWaitMs: number; maxWaitMs: number; failingAfterMs: number };
  /** Between two notices of a webhook's deliveries whose retries are used up. */
  exhaustedPauseMs: number;
}

/** A `scale` of 0.1 makes leases, sweeps and circuits run ten times as fast. */
export const durationsOf = (scale = 1): Durations => ({
  leaseMs: 10_000 * scale,
  maxStartMs: 500, // bounds this process's own delay, so it is not scaled
  startMarginMs: 200,
  sweepEveryMs: 2_000 * scale,
  sweepRestEveryMs: 4_000 * scale,
  sweepIdleMs: 60_000 * scale,
  canaryEveryMs: 10_000 * scale,
  unattendedAfterMs: 1_000 * scale,
  outageGraceMs: 7_000 * scale,
  linger: { idleMs: 40, awaitedMs: 10 },
  slowMs: 1_000,
  patienceMs: 60_000 * scale,
  replayEveryMs: 250,
  mailRetryMs: 5_000 * scale,
  summary: { gatherMs: 60_000 * scale, pauseMs: 3_600_000 * scale },
  foldEveryMs: 15_000 * scale,
  gaugesEveryMs: 10_000 * scale,
  removedQuietMs: 120_000 * scale,
  circuit: {
    windowMs: 60_000 * scale,
    firstWaitMs: 30_000 * scale,
    maxWaitMs: 600_000 * scale,
    failingAfterMs: 3_600_000 * scale,
  },
  exhaustedPauseMs: 3_600_000 * scale,
});
