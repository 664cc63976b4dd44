import { describeError } from '../platform/errors.js';
import type { Logger } from '../platform/logger.js';
import type { Database } from '../platform/postgres.js';
import { slowMs } from './lanes.js';
import type { Slots } from './slots.js';
import { renewLeases, type Claim } from './store.js';
import { leaseMs } from './timing.js';

/** An attempt under way. Times are of performance.now(). */
export interface Flight {
  issuedAt: number;
  startedAt: number;
  slots: Slots;
  /** It has given its slot to others. */
  moved: boolean;
}

/** The attempts under way in this process: their leases are renewed, and slow ones give up their slots. */
export interface Flights {
  begin(claim: Claim, issuedAt: number, slots: Slots): void;
  of(claim: Claim): Flight | undefined;
  end(claim: Claim): void;
  count(): number;
  /** Gives nobody's slot away any more. */
  stopWatching(): void;
  /** Renews no lease any more. */
  stop(): void;
}

export function createFlights(options: {
  leaseDb: Database;
  logger: Logger;
  /** Slow attempts that may have given up their slots at once. */
  mostMoved: number;
  onSlow(webhookId: string): void;
}): Flights {
  const flights = new Map<Claim, Flight>();
  let moved = 0;

  const renew = () => {
    const now = performance.now();
    const old = [...flights].flatMap(([claim, { issuedAt }]) =>
      now - issuedAt > leaseMs / 5 ? [claim] : [],
    );
    if (old.length === 0) return;
    renewLeases(options.leaseDb, old, leaseMs).catch((error: unknown) =>
      options.logger.warn({ error: describeError(error) }, 'leases not renewed'),
    );
  };
  const moveSlow = () => {
    for (const [claim, flight] of flights) {
      if (moved >= options.mostMoved) return;
      if (flight.moved || performance.now() - flight.startedAt < slowMs) continue;
      flight.moved = true;
      moved += 1;
      options.onSlow(claim.webhookId);
      flight.slots.give(1);
    }
  };
  const renewal = setInterval(renew, leaseMs / 4);
  const watching = setInterval(moveSlow, slowMs / 4);

  return {
    begin: (claim, issuedAt, slots) =>
      void flights.set(claim, { issuedAt, startedAt: issuedAt, slots, moved: false }),
    of: (claim) => flights.get(claim),
    end: (claim) => {
      const flight = flights.get(claim);
      flights.delete(claim);
      if (flight?.moved) moved -= 1;
      else flight?.slots.give(1);
    },
    count: () => flights.size,
    stopWatching: () => clearInterval(watching),
    stop: () => clearInterval(renewal),
  };
}
