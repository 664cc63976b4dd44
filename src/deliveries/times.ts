/**
 * How long leases, sweeps and the like last, which nobody configures: in one place, so that tests can run them faster.
 */
export interface Times {
  /** A claim holds this long unless it is renewed; after a kill -9, its delivery is taken up again then. */
  leaseMs: number;
  /** What was claimed longer ago than this is asked about before it is sent: who stops a webhook waits as long. */
  longestStartMs: number;
  /** As much longer: a process may be kept from running between its look at the clock and the first byte. */
  startMarginMs: number;
  /** How often the sweeper walks over a page of the outbox. */
  sweepEveryMs: number;
  /** How often orders, redeliveries and what else is rarely forgotten are looked for. */
  sweepRestEveryMs: number;
  /** How often a canary goes through each queue; readiness wants one every 30 s. */
  canaryEveryMs: number;
  /** How long something may be due before the sweeper takes it for forgotten. */
  unattendedAfterMs: number;
  /** How long after an outage the sweeper takes nothing from those who could not renew their leases. */
  sparedMs: number;
  /** Outcomes wait this long for company while there is little to do. */
  lingerMs: number;
  /** Attempts longer than this are slow: they leave room to others. */
  slowMs: number;
  /** An outage of PostgreSQL this long costs no attempt a second time. */
  patienceMs: number;
  /** How often a replay that is under way goes on. */
  replayEveryMs: number;
  /** How often attempts counted since are added to their hours. */
  foldEveryMs: number;
  /** How long nothing of a removed shipper may turn up before its last rows go. */
  removedQuietMs: number;
  /** The waits of a circuit that opens, and the window in which it counts. */
  circuit: { windowMs: number; firstWaitMs: number; longestWaitMs: number };
}

/** `scale` 0.1 runs leases, sweeps and the waits of circuits ten times as fast; only tests ask for that. */
export const timesOf = (scale = 1): Times => ({
  leaseMs: 10_000 * scale,
  longestStartMs: 500, // a bound on our own slowness, which nothing scales
  startMarginMs: 200,
  sweepEveryMs: 2_000 * scale,
  sweepRestEveryMs: 4_000 * scale,
  canaryEveryMs: 10_000 * scale,
  unattendedAfterMs: 1_000 * scale,
  sparedMs: 7_000 * scale,
  lingerMs: 10,
  slowMs: 1_000,
  patienceMs: 60_000 * scale,
  replayEveryMs: 250,
  foldEveryMs: 15_000 * scale,
  removedQuietMs: 120_000 * scale,
  circuit: { windowMs: 60_000 * scale, firstWaitMs: 30_000 * scale, longestWaitMs: 600_000 * scale },
});
