import { eachPool, loadOf, pools, type Lane, type Pool, type Shipper } from './lanes.js';

const slowPlacesFactor = 5;
/** Of the slow and the unknown pool. */
const maxShareOfShipper = 1 / 2;
/** In multiples of a lane's limit: by pages, and by recordings on top. */
const roundsPulled = 2;
const roundsRecorded = 4;
/** A page must have room for at least this share of the limit, unless the lane is empty. */
const worthwhileShare = 1 / 2;
/** At most as many claims are pending as have just started within this time, so that all start well within `maxStartMs`. */
const pendingMs = 200;
const minPendingFactor = 4;
const maxPendingFactor = 10;
const shareForFresh = 1 / 4;

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

export interface Counts {
  pending: Record<Pool, number>;
  inFlight: Record<Pool, number>;
  /** Requested by pages under way. */
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

/** Only what starts soon, so that no claim has to be checked again. */
export interface Budget {
  free: number;
  forFresh: number;
  /** In addition to `free`, for shippers without claims, so that no backlog keeps them out. */
  forNewcomers: number;
}

export function createRoom(concurrency: number, counts: Counts) {
  const { places, maxOfShipper } = placesOf(concurrency);
  const atMax = eachPool(() => new Set<Shipper>());
  const hasPlaces = (pool: Pool) => counts.inFlight[pool] < places[pool];
  const startsLately = createRate(pendingMs);

  /** One round if the lane is not quick: a waiting claim would be old before it starts. */
  const maxLoad = (lane: Lane, rounds: number) => (lane.pool === 'quick' ? rounds : 1) * lane.limit;

  return {
    started: startsLately.count,
    hasPlaces,
    mayStart: (shipper: Shipper, pool: Pool) => shipper.inFlight[pool] < maxOfShipper[pool],

    /**
     * Call when a number of attempts of the shipper has changed. Its share is not full while most of its places are taken
     * by claims that read their target or are being settled.
     */
    noteShare: (shipper: Shipper, nowMs: number) => {
      for (const pool of pools) {
        const max = maxOfShipper[pool];
        if (shipper.inFlight[pool] >= max && shipper.atReceiver >= max / 2) atMax[pool].add(shipper);
        else if (atMax[pool].delete(shipper)) shipper.share[pool].set(false, nowMs);
        // A place taken by any shipper may be the pool's last, and a free one its first.
        for (const { share } of atMax[pool]) share[pool].set(hasPlaces(pool), nowMs);
      }
    },
    /** Lanes that wait for their own shipper's attempts, while others have places. */
    crowded: (): Lane[] =>
      pools.flatMap((pool) =>
        hasPlaces(pool)
          ? [...atMax[pool]].flatMap(({ lanes }) => [...lanes].filter((lane) => lane.pool === pool))
          : [],
      ),

    budget: (nowMs: number): Budget => {
      const { pending, inFlight, promised } = counts;
      const lately = Math.max(startsLately.recent(nowMs), minPendingFactor * concurrency);
      const max = concurrency + Math.min(lately, maxPendingFactor * concurrency);
      const taken = inFlight.quick + inFlight.unknown + pending.quick + pending.unknown + promised;
      return { free: max - taken, forFresh: Math.floor(max * shareForFresh), forNewcomers: concurrency };
    },

    /** None while older ones are due in PostgreSQL. */
    forFresh: (lane: Lane): number => {
      if (lane.outside.older || lane.page?.older) return 0;
      const coming = lane.outside.fresh + Math.max(0, (lane.page?.fresh ?? 0) - (lane.page?.room ?? 0));
      return Math.max(0, maxLoad(lane, roundsRecorded) - loadOf(lane) - coming);
    },

    /** Whatever the load of the process; 0 if it is not worth a page. */
    inLane: (lane: Lane): number => {
      const room = maxLoad(lane, roundsPulled) - loadOf(lane);
      const isWorthwhile = lane.pool === 'quick' ? room >= lane.limit * worthwhileShare : room >= 1;
      return isWorthwhile || (room > 0 && loadOf(lane) === 0) ? room : 0;
    },

    inProcess: ({ pool, shipper }: Lane, { free, forFresh, forNewcomers }: Budget): number => {
      const { pending, inFlight, awaited } = counts;
      if (pool === 'slow') return places.slow - inFlight.slow - pending.slow - awaited.slow;
      const hasClaims = shipper !== null && shipper.load > 0;
      return (hasClaims ? free - forFresh : free + forNewcomers) - awaited.quick - awaited.unknown;
    },
  };
}

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
