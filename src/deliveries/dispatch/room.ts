import { eachPool, heldBy, type Lane, type Pool } from './lanes.js';

const slowPlacesFactor = 5;
/** The share of the slow and the unknown pool's places that one shipper may take. */
const maxShareOfShipper = 1 / 2;
/** A lane is pulled up to this many rounds of its limit; recording may add as much again. */
const roundsPulled = 2;
const roundsHeld = 4;
/** A page is worth a statement if it has at least this share of the limit, or if the lane is empty. */
const worthwhileShare = 1 / 2;
/** At most as many claims are pending as recently started within this time: all start well within `longestStartMs`. */
const pendingMs = 200;
const minPendingFactor = 4;
const maxPendingFactor = 10;
/** The share of this process's claims that backlogs leave to new events. */
const keptForFresh = 1 / 4;

/** How many attempts may be in flight in each pool, in all and of one shipper. */
export const placesOf = (concurrency: number) => {
  const places: Record<Pool, number> = {
    quick: concurrency,
    unknown: concurrency,
    slow: slowPlacesFactor * concurrency,
  };
  const maxOfShipper: Record<Pool, number> = {
    quick: Infinity,
    unknown: Math.ceil(places.unknown * maxShareOfShipper),
    slow: Math.ceil(places.slow * maxShareOfShipper),
  };
  return { places, maxOfShipper };
};

/** The claims that this process holds and has promised. */
export interface Counts {
  pending: Record<Pool, number>;
  inFlight: Record<Pool, number>;
  /** Pages under way may bring these. */
  awaited: Record<Pool, number>;
  /** Reserved for statements that record. */
  promised: number;
}

export const noCounts = (): Counts => ({
  pending: eachPool(() => 0),
  inFlight: eachPool(() => 0),
  awaited: eachPool(() => 0),
  promised: 0,
});

/** How many claims a process may hold at a moment: as many as start soon, so that none has to be asked about again. */
export interface Budget {
  free: number;
  /** The claims that backlogs leave to new events. */
  kept: number;
  /** Beyond what is free, for shippers of whom nothing is held: nobody's backlog keeps them out. */
  forNewcomers: number;
}

export function createRoom(concurrency: number, counts: Counts) {
  const { places } = placesOf(concurrency);
  const startsLately = createRate(pendingMs);

  /** A claim that waits at a slow receiver would be old before it starts. */
  const maxHeld = (lane: Lane, rounds: number) => (lane.pool === 'quick' ? rounds : 1) * lane.limit;

  return {
    started: startsLately.count,

    budget: (nowMs: number): Budget => {
      const { pending, inFlight, promised } = counts;
      const lately = Math.max(startsLately.recent(nowMs), minPendingFactor * concurrency);
      const max = concurrency + Math.min(lately, maxPendingFactor * concurrency);
      const held = inFlight.quick + inFlight.unknown + pending.quick + pending.unknown + promised;
      return { free: max - held, kept: Math.floor(max * keptForFresh), forNewcomers: concurrency };
    },

    /** How much of what is about to be recorded a lane may take: nothing while PostgreSQL holds what is due longer. */
    forFresh: (lane: Lane): number => {
      if (lane.outside.older || lane.page?.older) return 0;
      const coming = lane.outside.fresh + Math.max(0, (lane.page?.fresh ?? 0) - (lane.page?.room ?? 0));
      return Math.max(0, maxHeld(lane, roundsHeld) - heldBy(lane) - coming);
    },

    /** How much a lane has room for by itself, whatever the process holds; 0 where that is not worth a page. */
    inLane: (lane: Lane): number => {
      const room = maxHeld(lane, roundsPulled) - heldBy(lane);
      const isWorthwhile = lane.pool === 'quick' ? room >= lane.limit * worthwhileShare : room >= 1;
      return isWorthwhile || (room > 0 && heldBy(lane) === 0) ? room : 0;
    },

    /** How much the process has room for in a lane's page. */
    inProcess: ({ pool, shipper }: Lane, { free, kept, forNewcomers }: Budget): number => {
      const { pending, inFlight, awaited } = counts;
      if (pool === 'slow') return places.slow - inFlight.slow - pending.slow - awaited.slow;
      const holdsSome = shipper !== null && shipper.held > 0;
      return (holdsSome ? free - kept : free + forNewcomers) - awaited.quick - awaited.unknown;
    },
  };
}

/** How often something happened within `windowMs` lately. */
function createRate(windowMs: number) {
  let startMs = -Infinity;
  let current = 0;
  let before = 0;
  const moveOn = (nowMs: number) => {
    if (nowMs - startMs < windowMs) return;
    before = nowMs - startMs < 2 * windowMs ? current : 0;
    current = 0;
    startMs = nowMs;
  };
  return {
    count: (nowMs: number) => {
      moveOn(nowMs);
      current += 1;
    },
    recent: (nowMs: number) => {
      moveOn(nowMs);
      return Math.max(before, current);
    },
  };
}
