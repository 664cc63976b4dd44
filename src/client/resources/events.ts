import type { EventPage, EventQuery, FeedEvent } from '../api/types.js';
import type { Request } from '../api/operations.js';
import type { CallOptions, Limits } from '../http/send.js';
import { followEvents, type FollowOptions } from './follow.js';

export interface Events {
  /** One page of the feed, oldest first. With `wait` it is answered when there is an event, or after that time. */
  list(query?: EventQuery, options?: CallOptions): Promise<EventPage>;
  /** Every event from now on, or from where it is told, each once and in order, over breaks. */
  follow(options?: FollowOptions): AsyncIterable<FeedEvent>;
}

/** The longest that the service waits. */
const longestWaitMs = 30_000;

export function events(request: Request<'/v1/'>, { timeoutMs, totalTimeoutMs }: Limits): Events {
  const list: Events['list'] = (query = {}, options) => {
    const waitMs = query.wait === undefined ? 0 : longestWaitMs;
    const limits = { timeoutMs: timeoutMs + waitMs, totalTimeoutMs: totalTimeoutMs + waitMs };
    return request('get', '/v1/events', { ...limits, ...options, query });
  };
  /** One try, and a login with it: what fails is told at once, and tried again by who follows. */
  const once: Events['list'] = (query = {}, options) => {
    const ofOneTry = timeoutMs + (query.wait === undefined ? 0 : longestWaitMs);
    return list(query, { ...options, retries: 0, totalTimeoutMs: ofOneTry });
  };
  return { list, follow: (options = {}) => followEvents(once, options) };
}
