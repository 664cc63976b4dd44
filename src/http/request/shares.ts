import type { Response } from 'express';
import { ApiError, isUnavailable, tooManyRequests } from '../../platform/errors.js';
import { createGate, refusalOf, type Refusal, createHeldTime } from '../../platform/limits/gate.js';
import { markHeld } from './watch.js';
import type { OutsideSlot } from '../route.js';
import type { RateLimits } from '../../platform/limits/rate-limit.js';

export interface ShareOptions {
  maxUnderWay: number;
  concurrency: number;
  concurrencyPerShipper: number;
  /** Responses of one shipper that are being made or have not been read by their client. */
  maxUnread: number;
  maxWaitMs: number;
  /** If none of a shipper's running requests has succeeded for so long, more may start: what they wait for is stuck. */
  stalledAfterMs: number;
  maxStalled: number;
  /** Requests of one shipper that wait outside their slots; while there are so many, no other starts. */
  maxOutside: number;
  onRefused(): void;
}

export type Shares = ReturnType<typeof createShares>;

const kinds = { first: 0, again: 1 };

interface Share {
  underWay: number;
  unread: number;
  outside: number;
  progressAt: number;
}

/** Each shipper's share of a process, so that no shipper starves the others. */
export function createShares(options: ShareOptions) {
  const { maxUnread, maxOutside, maxWaitMs, stalledAfterMs } = options;
  const shares = new Map<string, Share>();
  let progressAt = 0;

  const mayStart = (shipperId: string) => {
    const { unread, outside } = shares.get(shipperId) ?? { unread: 0, outside: 0 };
    return unread < maxUnread && outside < maxOutside;
  };
  const gate = createGate({
    concurrency: options.concurrency,
    concurrencyPerKey: options.concurrencyPerShipper,
    kinds: Object.keys(kinds).length,
    mayStart,
    maxWaitMs,
  });
  const held = createHeldTime(
    (shipperId) => gate.working(shipperId) >= options.concurrencyPerShipper || !mayStart(shipperId),
  );
  const shareOf = (shipperId: string): Share => {
    const share = shares.get(shipperId) ?? { underWay: 0, unread: 0, outside: 0, progressAt: 0 };
    shares.set(shipperId, share);
    return share;
  };
  const forgetIdle = (shipperId: string, { underWay, outside }: Share) => {
    if (underWay + outside + gate.working(shipperId) === 0) shares.delete(shipperId);
  };
  const refusal = () => {
    options.onRefused();
    return tooManyRequests('Too many concurrent requests for this account.', 1);
  };
  const isStalled = (shipperId: string, share: Share) => {
    const working = gate.working(shipperId);
    return (
      performance.now() - (working > 0 ? share.progressAt : progressAt) >= stalledAfterMs &&
      working < options.maxStalled &&
      share.unread - working < maxUnread
    );
  };

  const occupy = (shipperId: string, share: Share, response: Response) => {
    share.unread += 1;
    held.note(shipperId);
    if (gate.working(shipperId) === 1) share.progressAt = performance.now();
    response.once('close', () => {
      share.unread -= 1;
      gate.startReady();
      held.note(shipperId);
    });
  };

  /** Resolves with a function that frees the slot. Rejects if the client leaves; then no slot is taken. */
  const waitForSlot = (shipperId: string, share: Share, response: Response) =>
    new Promise<() => void>((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      const clock = held.start(shipperId);
      markHeld(response, clock.heldMs);
      const settle = () => {
        clock.stop();
        clearInterval(timer);
        response.off('close', giveUp);
      };
      const refuse = (why: Refusal) => {
        settle();
        reject(why === 'AWAY' ? refusalOf(why) : refusal());
      };
      const giveUp = () => {
        ticket.withdraw();
        refuse('LATE');
      };
      const start = (leave: () => void) => {
        settle();
        occupy(shipperId, share, response);
        resolve(leave);
      };
      const ticket = gate.ask(shipperId, { start, refuse });
      response.once('close', giveUp);
      // Requests behind stuck ones start all the same, and get the database's error.
      if (stalledAfterMs < maxWaitMs)
        timer = setInterval(() => isStalled(shipperId, share) && ticket.start(), stalledAfterMs);
    });

  /** A slot for a request that had one, or none if it waits too long: what it has begun must end. */
  const slotAgain = (shipperId: string) =>
    new Promise<() => void>((start) =>
      gate.ask(shipperId, { start, refuse: () => start(() => undefined), kind: kinds.again }),
    );

  /** Refuses the requests that have waited since before the last success: the database is out of reach for all. */
  const turnAway = (shipperId: string, share: Share) =>
    gate.turnAway((sinceMs) => sinceMs > share.progressAt, shipperId);

  return {
    /** Counts a request until its response closes. Throws ApiError TOO_MANY_REQUESTS beyond the shipper's share. */
    begin: (shipperId: string, response: Response) => {
      const share = shareOf(shipperId);
      if (response.destroyed || share.underWay >= options.maxUnderWay) throw refusal();
      share.underWay += 1;
      response.once('close', () => {
        share.underWay -= 1;
        forgetIdle(shipperId, share);
      });
    },
    /**
     * Runs `work` for a request that has begun, once a slot is free; shippers are served in rotation. Throws ApiError
     * TOO_MANY_REQUESTS if no slot comes in time, and UNAVAILABLE if all of the shipper's requests that ended while it
     * waited threw UNAVAILABLE. The wait behind the shipper's own running or unread requests is marked as its client's.
     * After a wait outside its slot, `work` continues in another one, or without one if none is free within `maxWaitMs`.
     */
    run: async <Result>(
      shipperId: string,
      response: Response,
      work: (outside: OutsideSlot) => Promise<Result>,
    ): Promise<Result> => {
      if (response.destroyed) throw refusal(); // the client has left
      const share = shareOf(shipperId);
      const entered = gate.enter(shipperId);
      if (entered) occupy(shipperId, share, response);
      let leave = entered ?? (await waitForSlot(shipperId, share, response));
      const outside: OutsideSlot = async (wait) => {
        share.outside += 1;
        share.unread -= 1;
        leave();
        held.note(shipperId);
        try {
          await wait();
        } finally {
          share.outside -= 1;
          leave = await slotAgain(shipperId);
          share.unread += 1;
          held.note(shipperId);
        }
      };
      const progress = () => (share.progressAt = progressAt = performance.now());
      try {
        const result = await work(outside);
        progress();
        return result;
      } catch (error) {
        // A request that is not valid says nothing of the database.
        if (error instanceof ApiError && error.httpStatus < 500 && error.httpStatus !== 400) progress();
        else if (isUnavailable(error)) turnAway(shipperId, share);
        throw error;
      } finally {
        leave();
        held.note(shipperId);
        forgetIdle(shipperId, share);
      }
    },
  };
}

interface Count {
  /** Admitted requests that are not in the shared count yet. */
  unreported: number;
  reportedAt: number;
  refusedUntil: number;
}

const secondsAveraged = 10;
const reportAfterMs = 1_000;
const maxShippers = 10_000;

/**
 * Allows a shipper `perSecond` requests, or its own limit, averaged over ten seconds so that a burst passes; 0 is
 * unlimited. Beyond that it throws ApiError TOO_MANY_REQUESTS. A request never waits for the shared count: requests are
 * reported to it in the background, a hundredth of the window's points or one second at a time. Each process may overdraw
 * it by as much.
 */
export function createApiLimit(
  limits: RateLimits,
  perSecond: number,
  onLimited: (limit: 'api') => void,
  timeScale = 1,
): (shipperId: string, ownPerSecond: number | null) => void {
  const points = perSecond * secondsAveraged;
  const windowSeconds = Math.ceil(secondsAveraged * timeScale);
  const shared = limits.limit({ name: 'api', points, windowSeconds });
  const counts = new Map<string, Count>();

  const countOf = (shipperId: string): Count => {
    const known = counts.get(shipperId);
    if (known) return known;
    if (counts.size >= maxShippers) counts.clear(); // the shared count still has them
    const count = { unreported: 0, reportedAt: -Infinity, refusedUntil: -Infinity };
    counts.set(shipperId, count);
    return count;
  };

  const report = (shipperId: string, count: Count, now: number, ownPoints: number) => {
    const spent = count.unreported;
    count.unreported = 0;
    count.reportedAt = now;
    shared.spend(shipperId, spent).then(
      ({ left, resetMs }) => {
        if (left - points + ownPoints <= 0) count.refusedUntil = performance.now() + resetMs;
      },
      () => undefined, // a lost report limits no requests
    );
  };

  return (shipperId, ownPerSecond) => {
    const allowed = ownPerSecond ?? perSecond;
    if (allowed === 0) return;
    const now = performance.now();
    const count = countOf(shipperId);
    if (now < count.refusedUntil) {
      onLimited('api');
      const message =
        ownPerSecond === null
          ? 'Too many requests.'
          : `Too many requests: the operator allows this account ${ownPerSecond} a second.`;
      throw tooManyRequests(message, (count.refusedUntil - now) / 1_000);
    }
    count.unreported += 1;
    const ownPoints = allowed * secondsAveraged;
    if (count.unreported >= Math.ceil(ownPoints / 100) || now - count.reportedAt >= reportAfterMs)
      report(shipperId, count, now, ownPoints);
  };
}
