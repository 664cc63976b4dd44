import { describeError } from '../../platform/errors.js';
import type { Logger } from '../../platform/logger.js';
import type { Database } from '../../platform/database/postgres.js';
import { renewLeases } from '../outbox/claim.js';
import type { Times } from '../times.js';
import type { Claim } from '../outbox/types.js';
import type { Slot } from './lanes/slots.js';

/** Times are of performance.now(); `issuedAt`, before the statement was sent. */
interface Held {
  issuedAt: number;
  /** Null while it waits. */
  startedAt: number | null;
  /** Null while it waits, and after it gave its slot to others. */
  slot: Slot | null;
}

/** The claims of this process: their leases are renewed, and slow attempts give up their slots. */
export interface HeldClaims {
  begin(claim: Claim, issuedAt: number): void;
  start(claim: Claim, slot: Slot): void;
  /** Returns the slot to be given back, if it still has one. */
  end(claim: Claim): Slot | null;
  count(): number;
  /** Gives nobody's slot away any more. */
  stopWatching(): void;
  /** Renews no lease any more. */
  stop(): void;
}

export function createHeldClaims(options: {
  leaseDb: Database;
  logger: Logger;
  times: Times;
  /** Slow attempts that may have given up their slots at once. */
  mostMoved: number;
  onSlow(claim: Claim, slot: Slot): void;
}): HeldClaims {
  const { leaseMs, slowMs } = options.times;
  const all = new Map<Claim, Held>();
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
    for (const [claim, held] of all) {
      if (moved.size >= options.mostMoved) return;
      if (held.slot === null || held.startedAt === null || held.startedAt > before) continue;
      moved.add(claim);
      const { slot } = held;
      held.slot = null;
      options.onSlow(claim, slot);
    }
  };
  const renewal = setInterval(renew, leaseMs / 4);
  const watching = setInterval(moveSlow, slowMs / 10);

  return {
    begin: (claim, issuedAt) => void all.set(claim, { issuedAt, startedAt: null, slot: null }),
    start: (claim, slot) => {
      const held = all.get(claim)!;
      held.startedAt = performance.now();
      held.slot = slot;
    },
    end: (claim) => {
      const held = all.get(claim);
      all.delete(claim);
      moved.delete(claim);
      return held?.slot ?? null;
    },
    count: () => all.size,
    stopWatching: () => clearInterval(watching),
    stop: () => clearInterval(renewal),
  };
}
