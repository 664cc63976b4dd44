import type { Response } from 'express';
import { ApiError, isUnavailable, tooManyRequests, unavailable } from '../../platform/errors.js';

export interface ShareOptions {
  /** Requests of one shipper under way at once, those that wait for their turn included. */
  mostUnderWay: number;
  /** Requests at work at once, of all shippers and of one. */
  atOnce: number;
  atOncePerShipper: number;
  /** Answers of one shipper that are being made or have not been taken by their client. */
  mostUnread: number;
  longestWaitMs: number;
  /** Where none of a shipper's requests at work has ended well for so long, more may start: what they wait for is stuck. */
  stalledAfterMs: number;
  mostStalled: number;
  /**
   * Bytes of the bodies of requests under way, of all callers together. One caller may have an eighth of what is free.
   */
  maxBodyBytes: number;
  onRefused(): void;
}

/** What a shipper may have of a process at once, so that none takes it from the others. */
export interface Shares {
  /** Counts a request until its answer is over. Throws ApiError TOO_MANY_REQUESTS beyond the shipper's share. */
  begin(shipperId: string, response: Response): void;
  /**
   * Returns a function that counts the bytes of a request's body until its answer is over. That function throws
   * ApiError TOO_MANY_REQUESTS if they are more than the caller's share.
   */
  receive(callerId: string, response: Response): (bytes: number) => void;
  /**
   * Runs `work` for a request that has begun, when its turn comes; shippers take turns. Throws ApiError
   * TOO_MANY_REQUESTS if its turn does not come in time, and UNAVAILABLE if all of the shipper's requests that ended
   * while it waited threw that, too.
   */
  inTurn<T>(shipperId: string, response: Response, work: () => Promise<T>): Promise<T>;
}

interface Lane {
  underWay: number;
  working: number;
  unread: number;
  bodyBytes: number;
  /** When one last ended its work well, or the first began; of performance.now(). */
  progressAt: number;
  waiting: Set<Waiting>;
}

interface Waiting {
  /** In the time of performance.now(). */
  since: number;
  start(): void;
  refuse(error: ApiError): void;
}

/**
 * A new caller always finds some bytes free, whatever the others have: none has more than this part of what is free.
 */
const partOfFree = 1 / 8;

export function createShares(options: ShareOptions): Shares {
  const lanes = new Map<string, Lane>();
  const inLine = new Set<Lane>(); // in the order of their turns
  let working = 0;
  let progressAt = 0;
  let bodyBytes = 0;

  const laneOf = (shipperId: string): Lane => {
    const lane = lanes.get(shipperId) ?? {
      underWay: 0,
      working: 0,
      unread: 0,
      bodyBytes: 0,
      progressAt: 0,
      waiting: new Set(),
    };
    lanes.set(shipperId, lane);
    return lane;
  };
  const forgetIdle = (shipperId: string, { underWay, working, bodyBytes }: Lane) => {
    if (underWay === 0 && working === 0 && bodyBytes === 0) lanes.delete(shipperId);
  };
  const refusal = () => {
    options.onRefused();
    return tooManyRequests('Too many requests of yours at once.', 1);
  };
  const mayStart = (lane: Lane) =>
    working < options.atOnce && lane.working < options.atOncePerShipper && lane.unread < options.mostUnread;

  const isStalled = (lane: Lane, now: number) =>
    now - (lane.working > 0 ? lane.progressAt : progressAt) >= options.stalledAfterMs &&
    lane.working < options.mostStalled &&
    lane.unread - lane.working < options.mostUnread;

  const occupy = (lane: Lane, response: Response) => {
    working += 1;
    lane.working += 1;
    lane.unread += 1;
    if (lane.working === 1) lane.progressAt = performance.now();
    response.once('close', () => {
      lane.unread -= 1;
      startNext();
    });
  };
  const startNext = () => {
    for (const lane of inLine) {
      if (working >= options.atOnce) return;
      if (!mayStart(lane)) continue;
      const [first] = lane.waiting;
      lane.waiting.delete(first!);
      inLine.delete(lane);
      if (lane.waiting.size > 0) inLine.add(lane); // goes to the end, and is looked at again
      first!.start();
    }
  };

  /**
   * The database is out of reach: requests that have seen nothing end well while they waited need not find that out in
   * turn.
   */
  const refuseWaiting = (lane: Lane) => {
    for (const one of [...lane.waiting]) if (one.since > lane.progressAt) one.refuse(unavailable());
  };

  /** Resolves at its turn; who has gone meanwhile, or waits too long, takes none. */
  const turn = (lane: Lane, response: Response) =>
    new Promise<void>((resolve, reject) => {
      const since = performance.now();
      const until = since + options.longestWaitMs;
      const start = () => {
        withdraw();
        settle();
        occupy(lane, response);
        resolve();
      };
      const refuse = (error: ApiError) => {
        withdraw();
        settle();
        reject(error);
      };
      const one: Waiting = { since, start, refuse };
      const withdraw = () => {
        lane.waiting.delete(one);
        if (lane.waiting.size === 0) inLine.delete(lane);
      };
      const giveUp = () => refuse(refusal());
      /** Stuck requests keep nobody waiting: each then gets the answer that the database gives it. */
      const look = () => {
        const now = performance.now();
        if (now >= until) giveUp();
        else if (isStalled(lane, now)) start();
        else timer = setTimeout(look, Math.min(options.stalledAfterMs, until - now));
      };
      let timer = setTimeout(look, Math.min(options.stalledAfterMs, options.longestWaitMs));
      const settle = () => {
        clearTimeout(timer);
        response.off('close', giveUp);
      };
      response.once('close', giveUp);
      lane.waiting.add(one);
      inLine.add(lane);
    });

  return {
    begin: (shipperId, response) => {
      const lane = laneOf(shipperId);
      if (response.destroyed || lane.underWay >= options.mostUnderWay) throw refusal();
      lane.underWay += 1;
      response.once('close', () => {
        lane.underWay -= 1;
        forgetIdle(shipperId, lane);
      });
    },
    receive: (callerId, response) => {
      if (response.destroyed) throw refusal();
      let received = 0;
      const add = (lane: Lane, bytes: number) => {
        received += bytes;
        lane.bodyBytes += bytes;
        bodyBytes += bytes;
      };
      response.once('close', () => {
        const lane = laneOf(callerId);
        add(lane, -received);
        forgetIdle(callerId, lane);
      });
      return (bytes) => {
        const lane = laneOf(callerId);
        const free = options.maxBodyBytes - bodyBytes;
        if (response.destroyed || lane.bodyBytes + bytes > free * partOfFree) throw refusal();
        add(lane, bytes);
      };
    },
    inTurn: async (shipperId, response, work) => {
      const lane = laneOf(shipperId);
      if (response.destroyed) throw refusal(); // nobody is there to take it
      if (mayStart(lane)) occupy(lane, response);
      else await turn(lane, response);
      const progress = () => (lane.progressAt = progressAt = performance.now());
      try {
        const result = await work();
        progress();
        return result;
      } catch (error) {
        if (error instanceof ApiError && error.httpStatus < 500) progress();
        else if (isUnavailable(error)) refuseWaiting(lane);
        throw error;
      } finally {
        lane.working -= 1;
        working -= 1;
        forgetIdle(shipperId, lane);
        startNext();
      }
    },
  };
}
