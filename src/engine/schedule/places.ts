import { eachPool, loadOf, type Lane, type Pool, type Shipper } from './lanes.js';

const slowPlacesFactor = 5;
/** Attempts that hang move to the slow pool also if it is full, up to this many times `concurrency`. */
const maxSlowFactor = 20;
/** Of the slow and the unknown pool. */
const maxShareOfShipper = 1 / 2;
/**
 * A shipper with less than this share of a pool's places goes first, and the last places, as many, are kept for such
 * shippers: others' attempts may last long. With less than this share of `concurrency` in claims, it has room in a full
 * process.
 */
const lightShare = 1 / 10;
/** The most that a lane holds, in multiples of its limit: after a page, and after a recording. */
const roundsPulled = 2;
const roundsRecorded = 4;
/** A page must have room for at least this share of the limit, unless the lane is empty. */
const worthwhileShare = 1 / 2;
/**
 * At most as many claims are pending as started within this time. Statements and connecting take a part of
 * `maxStartMs`, too, and the rate follows a receiver that slows down only after two such windows.
 */
const pendingMs = 200;
const minPendingFactor = 4;
const maxPendingFactor = 10;
const shareForFresh = 1 / 4;
/** Claims of unknown receivers, which may all hang, leave the rest of the room to known ones. */
const maxShareOfUnknown = 1 / 2;
/** For so long, new deliveries may take places before those of their lane that are due in PostgreSQL. */
export const passedOverMs = 100;

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

/** Room for claims that start soon, so that none has to be checked again. */
export interface Budget {
  free: number;
  /** Of it, for unknown receivers. */
  freeUnknown: number;
  forFresh: number;
  /** In addition to `free`, for shippers with few claims or none, so that no backlog keeps them out. */
  forLight: number;
}

export type Places = ReturnType<typeof createPlaces>;

export function createPlaces(concurrency: number, counts: Counts) {
  const { places, maxOfShipper } = placesOf(concurrency);
  const keptForLight = Math.floor(lightShare * concurrency);
  const hasFree = (pool: Pool) => counts.inFlight[pool] < places[pool];
  const isLight = (shipper: Shipper, pool: Pool) => shipper.inFlight[pool] < lightShare * places[pool];
  const hasFew = (shipper: Shipper | null | undefined) => (shipper?.load ?? 0) < lightShare * concurrency;
  const mayMoveToSlow = () => counts.inFlight.slow < maxSlowFactor * concurrency;
  const startsLately = createRate(pendingMs);

  /** One round if the lane is not quick: a waiting claim would be old before it starts. */
  const maxLoad = (lane: Lane, rounds: number) => (lane.pool === 'quick' ? rounds : 1) * lane.limit;

  return {
    started: startsLately.count,
    hasFree,
    mayMoveToSlow,
    hasFew,
    maxOfShipper,
    isLight,
    mayStart: (shipper: Shipper, pool: Pool) =>
      shipper.inFlight[pool] < maxOfShipper[pool] &&
      (isLight(shipper, pool) || counts.inFlight[pool] < places[pool] - keptForLight),

    budget: (nowMs: number): Budget => {
      const { pending, inFlight, promised } = counts;
      const lately = Math.max(startsLately.recent(nowMs), minPendingFactor * concurrency);
      const max = concurrency + Math.min(lately, maxPendingFactor * concurrency);
      const unknown = inFlight.unknown + pending.unknown;
      const maxUnknown = Math.floor(max * maxShareOfUnknown);
      const taken = inFlight.quick + pending.quick + Math.min(unknown, maxUnknown) + promised;
      return {
        free: max - taken,
        freeUnknown: maxUnknown - unknown,
        forFresh: Math.floor(max * shareForFresh),
        forLight: concurrency,
      };
    },

    /** None while others are due in PostgreSQL that are unknown in number, or that no page took in time. */
    forFresh: (lane: Lane, nowMs: number, { freeUnknown, forLight }: Budget): number => {
      const { outside, page } = lane;
      if (lane.pool === 'unknown' && freeUnknown + forLight <= 0) return 0;
      if (outside.older || page?.older || nowMs - outside.notifiedAtMs >= passedOverMs) return 0;
      const beyondPage = page ? Math.max(0, page.fresh + page.again - page.room) : 0;
      const coming = outside.fresh + outside.again + beyondPage;
      return Math.max(0, maxLoad(lane, roundsRecorded) - loadOf(lane) - coming);
    },

    /** Whatever the load of the process; 0 if it is not worth a page. */
    inLane: (lane: Lane): number => {
      const room = maxLoad(lane, roundsPulled) - loadOf(lane);
      const isWorthwhile = lane.pool === 'quick' ? room >= lane.limit * worthwhileShare : room >= 1;
      return isWorthwhile || (room > 0 && loadOf(lane) === 0) ? room : 0;
    },

    inProcess: ({ pool, shipper }: Lane, { free, freeUnknown, forFresh, forLight }: Budget): number => {
      const { pending, inFlight, awaited } = counts;
      if (pool === 'slow') return places.slow - inFlight.slow - pending.slow - awaited.slow;
      const isFew = hasFew(shipper);
      const ofAll = (isFew ? free + forLight : free - forFresh) - awaited.quick - awaited.unknown;
      const ofUnknown = (isFew ? freeUnknown + forLight : freeUnknown) - awaited.unknown;
      return pool === 'quick' ? ofAll : Math.min(ofAll, ofUnknown);
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
