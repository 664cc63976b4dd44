import type { Lane } from './lanes.js';

/**
 * The bound on attempts under way in a process. Lanes whose receivers are slow have slots of their own, so that they
 * never take all of them from the quick. Shippers take turns, and the lanes of each. Lanes that have shown that they are
 * quick have three turns of four, and a quarter of the slots to themselves: it takes a second to see that a receiver
 * hangs, and for that second those that hang from the start would have all.
 */
export interface Slots {
  /** The lane has something waiting: its turn will come. */
  queue(lane: Lane): void;
  /** Takes a slot for the next lane that may start an attempt; null if none may. */
  next(): { lane: Lane; slot: Slot } | null;
  give(slot: Slot): void;
  /** Slots taken: all, those of quick lanes, be they proven or not, or those of slow ones. */
  inUse(of?: 'quick' | 'slow'): number;
  /** Slots that this lane may take. */
  freeFor(lane: Lane): number;
}

/** What its lane was when it took it. */
export type Slot = 'proven' | 'unproven' | 'slow';

/** One slot in this many goes to a lane of which nothing is known yet, if one is waiting. */
const unprovenEvery = 4;

/** Of the slots, what is left to lanes that are known to be quick. */
const keptForProven = 1 / 4;

export function createSlots(size: number): Slots {
  const taken = { proven: 0, unproven: 0, slow: 0 };
  const mostUnproven = size - Math.floor(size * keptForProven);
  const waiting = { proven: createRoundRobin(), unproven: createRoundRobin(), slow: createRoundRobin() };
  let given = 0;
  const slotOf = ({ slow, proven }: Lane): Slot => (slow ? 'slow' : proven ? 'proven' : 'unproven');
  const quick = () => taken.proven + taken.unproven;
  const free = (slot: Slot) => {
    if (slot === 'slow') return size - taken.slow;
    return Math.min(size - quick(), slot === 'unproven' ? mostUnproven - taken.unproven : size);
  };

  const nextOf = (slot: Slot) => {
    if (free(slot) === 0) return null;
    const lane = waiting[slot].next((lane) => {
      if (lane.waiting.length === 0) return false;
      if (slotOf(lane) === slot) return lane.active < lane.limit; // else it comes again when an attempt has ended
      waiting[slotOf(lane)].add(lane);
      return false;
    });
    if (!lane) return null;
    taken[slot] += 1;
    return { lane, slot };
  };
  /** Receivers that hang fill unproven lanes first: those that are known to be quick do not wait behind them. */
  const nextQuick = () => {
    given += 1;
    return given % unprovenEvery === 0
      ? (nextOf('unproven') ?? nextOf('proven'))
      : (nextOf('proven') ?? nextOf('unproven'));
  };

  return {
    queue: (lane) => waiting[slotOf(lane)].add(lane),
    next: () => nextQuick() ?? nextOf('slow') ?? nextQuick(),
    give: (slot) => void (taken[slot] -= 1),
    inUse: (of) => (of === 'slow' ? 0 : quick()) + (of === 'quick' ? 0 : taken.slow),
    freeFor: (lane) => free(slotOf(lane)),
  };
}

/** Shippers take turns, and the lanes of each. */
function createRoundRobin() {
  const byShipper = new Map<string, Set<Lane>>();

  const nextOf = (lanes: Set<Lane>, fits: (lane: Lane) => boolean): Lane | null => {
    for (const lane of lanes) {
      lanes.delete(lane);
      if (!fits(lane)) continue;
      lanes.add(lane); // at the end
      return lane;
    }
    return null;
  };

  return {
    add: (lane: Lane) =>
      void byShipper.set(lane.shipperId, (byShipper.get(lane.shipperId) ?? new Set()).add(lane)),
    /** The next lane that fits; those before it that do not are forgotten. */
    next: (fits: (lane: Lane) => boolean): Lane | null => {
      for (const [shipperId, lanes] of byShipper) {
        byShipper.delete(shipperId);
        const lane = nextOf(lanes, fits);
        if (lanes.size > 0) byShipper.set(shipperId, lanes); // at the end
        if (lane) return lane;
      }
      return null;
    },
  };
}
