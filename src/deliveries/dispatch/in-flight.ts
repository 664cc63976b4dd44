import { describeError } from '../../platform/errors.js';
import type { Logger } from '../../platform/logger.js';
import type { Database } from '../../platform/database/postgres.js';
import { renewLeases } from '../outbox/claim.js';
import type { Times } from '../outbox/times.js';
import type { Claim } from '../outbox/types.js';
import type { Place } from './lanes/places.js';

/** A claim in this process. Times are of performance.now(); `issuedAt`, before the statement was sent. */
export interface InFlight {
  issuedAt: number;
  /** Null while it waits. */
  startedAt: number | null;
  /** Null while it waits, and after it gave its place to others. */
  place: Place | null;
}

/** The claims of this process: their leases are renewed, and slow attempts give up their places. */
export interface Attempts {
  begin(claim: Claim, issuedAt: number): void;
  start(claim: Claim, place: Place): InFlight;
  /** Returns the place to be given back, if it still has one. */
  end(claim: Claim): Place | null;
  count(): number;
  /** Gives nobody's place away any more. */
  stopWatching(): void;
  /** Renews no lease any more. */
  stop(): void;
}

export function createAttempts(options: {
  leaseDb: Database;
  logger: Logger;
  times: Times;
  /** Slow attempts that may have given up their places at once. */
  mostMoved: number;
  onSlow(claim: Claim, place: Place): void;
}): Attempts {
  const { leaseMs, slowMs } = options.times;
  const all = new Map<Claim, InFlight>();
  const moved = new Set<Claim>();

  const renew = () => {
    const now = performance.now();
    const old = [...all].flatMap(([claim, { issuedAt }]) => (now - issuedAt > leaseMs / 5 ? [claim] : []));
    if (old.length === 0) return;
    renewLeases(options.leaseDb, old, leaseMs).catch((error: unknown) =>
      options.logger.warn({ error: describeError(error) }, 'leases not renewed'),
    );
  };
  const moveSlow = () => {
    const before = performance.now() - slowMs;
    for (const [claim, flight] of all) {
      if (moved.size >= options.mostMoved) return;
      if (flight.place === null || flight.startedAt === null || flight.startedAt > before) continue;
      moved.add(claim);
      const { place } = flight;
      flight.place = null;
      options.onSlow(claim, place);
    }
  };
  const renewal = setInterval(renew, leaseMs / 4);
  const watching = setInterval(moveSlow, slowMs / 10);

  return {
    begin: (claim, issuedAt) => void all.set(claim, { issuedAt, startedAt: null, place: null }),
    start: (claim, place) => {
      const flight = all.get(claim)!;
      flight.startedAt = performance.now();
      flight.place = place;
      return flight;
    },
    end: (claim) => {
      const flight = all.get(claim);
      all.delete(claim);
      moved.delete(claim);
      return flight?.place ?? null;
    },
    count: () => all.size,
    stopWatching: () => clearInterval(watching),
    stop: () => clearInterval(renewal),
  };
}
