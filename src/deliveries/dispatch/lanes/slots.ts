import type { Lane } from './lanes.js';

/**
 * The bound on attempts under way in a process. Lanes whose receivers are slow have slots of their own, so that they
 * never take all of them from the quick. Shippers take turns, and the lanes of each; those that have shown that they are
 * quick have three turns of four.
 */
export interface Slots {
  /** The lane has something waiting: its turn will come. */
  queue(lane: Lane): void;
  /** Takes a slot for the next lane that may start an attempt; null if none may. */
  next(): { lane: Lane; slot: Slot } | null;
  give(slot: Slot): void;
  /** Slots taken, of both kinds or of one. */
  inUse(kind?: Slot): number;
  /** Slots not taken, of the kind this lane needs. */
  freeFor(lane: Lane): number;
}

export type Slot = 'quick' | 'slow';

/** Of so many slots one goes to a lane of which nothing is known yet, where such a one waits. */
const unprovenEvery = 4;

type Kind = 'proven' | 'unproven' | 'slow';

export function createSlots(size: number): Slots {
  const free = { quick: size, slow: size };
  const turns = { proven: createTurns(), unproven: createTurns(), slow: createTurns() };
  let given = 0;
  const kindOf = ({ slow, proven }: Lane): Kind => (slow ? 'slow' : proven ? 'proven' : 'unproven');
  const slotOf = (lane: Lane): Slot => (lane.slow ? 'slow' : 'quick');

  const nextOf = (kind: Kind) => {
    const slot = kind === 'slow' ? 'slow' : 'quick';
    if (free[slot] === 0) return null;
    const lane = turns[kind].next((lane) => {
      if (lane.waiting.length === 0) return false;
      if (kindOf(lane) === kind) return lane.active < lane.limit; // else it comes again when an attempt has ended
      turns[kindOf(lane)].add(lane);
      return false;
    });
    if (!lane) return null;
    free[slot] -= 1;
    return { lane, slot } as const;
  };
  /** Receivers that hang fill unproven lanes first: those that are known to be quick do not wait behind them. */
  const nextQuick = () => {
    given += 1;
    return given % unprovenEvery === 0
      ? (nextOf('unproven') ?? nextOf('proven'))
      : (nextOf('proven') ?? nextOf('unproven'));
  };

  return {
    queue: (lane) => turns[kindOf(lane)].add(lane),
    next: () => nextQuick() ?? nextOf('slow') ?? nextQuick(),
    give: (slot) => void (free[slot] += 1),
    inUse: (kind) => (kind ? size - free[kind] : 2 * size - free.quick - free.slow),
    freeFor: (lane) => free[slotOf(lane)],
  };
}

/** Shippers take turns, and the lanes of each. */
function createTurns() {
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
