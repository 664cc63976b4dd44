import type { Lane, Lanes } from './lanes.js';
import type { Slots } from './slots.js';

/** How many claims this process may hold, and whom for. What hangs at slow receivers has slots of its own. */
export interface Budget {
  /** An attempt begins. */
  started(): void;
  /**
   * How many of the deliveries about to be recorded may be claimed as they are: `wanted` at most, of which
   * `wantedByNewcomers` are of shippers of whom nothing is claimed here.
   */
  forNew(wanted: number, wantedByNewcomers: number): number;
  /**
   * For one statement that pulls: tells how many more claims may be held for a lane's sake. What is promised to statements
   * that record is deducted; what other pages under way may bring is not.
   */
  forBacklogs(): (lane: Lane) => number;
}

export interface BudgetOptions {
  concurrency: number;
  lanes: Lanes;
  slots: Slots;
  /** Claims that wait for a slot. */
  waiting(): number;
  /** Claims promised to statements that record. */
  promised(): number;
}

/** As many claims wait here as were started in this time lately: they all start well within `longestStartMs`. */
const waitingMs = 200;
const mostWaitingFactor = 10;
const fewestWaitingFactor = 4;
/** Of the claims here, what a backlog leaves to what is recorded from now on: else it would wait for all lanes before it. */
const keptShare = 1 / 4;

export function createBudget({ concurrency, lanes, slots, waiting, promised }: BudgetOptions): Budget {
  const startsPer = createRate(waitingMs);
  const most = () =>
    concurrency +
    Math.min(
      Math.max(startsPer.recent(), fewestWaitingFactor * concurrency),
      mostWaitingFactor * concurrency,
    );
  const free = () => most() - waiting() - slots.inUse('quick') - promised();
  /** Beyond that, for shippers of whom nothing is claimed here: nobody's backlog keeps others out. */
  const forNewcomers = concurrency;

  return {
    started: startsPer.count,
    forNew: (wanted, wantedByNewcomers) => {
      const freeNow = free();
      const half = Math.ceil(freeNow / 2); // something is left for the next, whoever he is
      return Math.max(0, Math.min(wanted, half), Math.min(wantedByNewcomers, freeNow + forNewcomers));
    },
    forBacklogs: () => {
      const freeNow = free();
      const kept = Math.floor(most() * keptShare);
      const known = new Map<string, boolean>(); // a shipper may have ten thousand lanes
      return (lane) => {
        if (lane.slow) return slots.freeFor(lane);
        const holdsSome = known.get(lane.shipperId) ?? lanes.holdsSome(lane.shipperId);
        known.set(lane.shipperId, holdsSome);
        return holdsSome ? freeNow - kept : freeNow + forNewcomers;
      };
    },
  };
}

/** How often something happened within `windowMs` lately. */
function createRate(windowMs: number) {
  let windowStart = 0;
  let current = 0;
  let before = 0;
  const turn = () => {
    const elapsedMs = performance.now() - windowStart;
    if (elapsedMs < windowMs) return;
    before = elapsedMs < 2 * windowMs ? current : 0;
    current = 0;
    windowStart = performance.now();
  };
  return {
    count: () => {
      turn();
      current += 1;
    },
    recent: () => {
      turn();
      return Math.max(before, current);
    },
  };
}
