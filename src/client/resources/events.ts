import type { Request } from '../http/operations.js';
import type { EventPage, EventQuery, FeedEvent } from '../api/types.js';
import { isTransient, ParcelhookError } from '../errors.js';
import { backoffMs, pause, retryWaitMs } from '../http/retry.js';
import type { CallOptions } from '../http/send.js';
import { refuseUnknown, type Limits } from '../http/service.js';

export interface Events {
  /** One page of the feed, oldest first. With `wait`, the service responds once there is an event, or after that time. */
  list(query?: EventQuery, options?: CallOptions): Promise<EventPage>;
  /** Every event from now on, or from a given position, in order, each once. Resumes after interruptions. */
  follow(options?: FollowOptions): AsyncIterable<FeedEvent>;
}

/** The longest wait that the service allows. */
const maxWaitMs = 30_000;

export function events(request: Request<'/v1/'>, { timeoutMs, totalTimeoutMs }: Limits): Events {
  const list: Events['list'] = (query = {}, options) => {
    const waitMs = query.wait === undefined ? 0 : maxWaitMs;
    const limits = { timeoutMs: timeoutMs + waitMs, totalTimeoutMs: totalTimeoutMs + waitMs };
    return request('get', '/v1/events', { ...limits, ...options, query });
  };
  /** One try including a login, because `followEvents` has its own retries. */
  const once: Events['list'] = (query = {}, options) => {
    const oneTryMs = timeoutMs + (query.wait === undefined ? 0 : maxWaitMs);
    return list(query, { ...options, retries: 0, totalTimeoutMs: oneTryMs });
  };
  return { list, follow: (options = {}) => followEvents(once, options) };
}

export interface FollowOptions {
  /** A cursor from `onCursor` or `events.list`; `latest` (the default) means from now on. */
  after?: string | undefined;
  /** Instead of `after`: start at this time. */
  from?: string | Date | undefined;
  /** Only events of this shipment. */
  trackingId?: string | undefined;
  /** Ends the iteration, without an error. */
  signal?: AbortSignal | undefined;
  /**
   * Called with the cursor to resume from, when the loop is done with every event before it; first when the start is
   * known. Store it and pass it as `after` to miss nothing over a restart.
   */
  onCursor?: ((cursor: string) => void | Promise<void>) | undefined;
  /** Called at an interruption with the wait before the next try. */
  onBreak?: ((error: ParcelhookError, waitMs: number) => void) | undefined;
}

type List = (query: EventQuery, options: CallOptions) => Promise<EventPage>;

const pageSize = 100;
const wait = '30s';
/** An empty response sooner than this comes from a stopping service or a proxy: pause before the next request. */
const shortPollMs = 1_000;

/** Yields the events of the feed in order, each once, without end. Retries interruptions; throws any other error. */
async function* followEvents(
  list: List,
  { after, from, trackingId, signal, onCursor, onBreak, ...unknown }: FollowOptions,
): AsyncGenerator<FeedEvent, void, undefined> {
  refuseUnknown(unknown, ['after', 'from', 'trackingId', 'signal', 'onCursor', 'onBreak']);
  let position: EventQuery =
    after === undefined && from !== undefined ? { from } : { after: after ?? 'latest' };
  const only = trackingId === undefined ? {} : { trackingId };
  let failures = 0;
  try {
    for (;;) {
      signal?.throwIfAborted();
      const sentAtMs = performance.now();
      let page: EventPage;
      try {
        page = await list({ ...position, ...only, limit: pageSize }, { signal });
      } catch (error) {
        if (!isInterruption(error)) throw error;
        delete position.wait; // so that the next response, and `onCursor`, comes at once
        const waitMs = retryWaitMs(error, failures++);
        onBreak?.(error, waitMs);
        await pause(waitMs, signal);
        continue;
      }
      failures = 0;
      for (const event of page.events) {
        yield event;
        signal?.throwIfAborted();
      }
      const polled = 'wait' in position;
      position = { after: page.nextCursor, wait };
      await onCursor?.(page.nextCursor);
      const isEarly = polled && page.events.length === 0 && performance.now() - sentAtMs < shortPollMs;
      if (isEarly) await pause(backoffMs(2), signal);
    }
  } catch (error) {
    if (!signal?.aborted || error !== signal.reason) throw error;
  }
}

/** Includes errors of the service (500): the position in the feed stays valid. */
const isInterruption = (error: unknown): error is ParcelhookError =>
  isTransient(error) || (error instanceof ParcelhookError && (error.status ?? 0) >= 500);
