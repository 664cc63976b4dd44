import { isPassing, ParcelhookError } from '../errors.js';
import { backoffMs, waitMsAfter } from '../http/retry.js';
import type { CallOptions } from '../http/send.js';
import { pause } from '../http/waiting.js';
import type { EventPage, EventQuery, FeedEvent } from '../api/types.js';

export interface FollowOptions {
  /** Where to go on: a cursor that `onCursor` was given or `events.list` answered; `latest` (the default): from now on. */
  after?: string | undefined;
  /** Instead of `after`: from this moment on. */
  from?: string | undefined;
  /** Only of this shipment. */
  trackingId?: string | undefined;
  /** Ends the iteration, without an error. */
  signal?: AbortSignal | undefined;
  /**
   * Told where to go on, once the loop is done with every event before; at first when the place to begin is known. Who
   * keeps it and gives it as `after` misses nothing over a restart.
   */
  onCursor?: ((cursor: string) => void | Promise<void>) | undefined;
  /** Told of a break and of how long it waits before it tries again. */
  onBreak?: ((error: ParcelhookError, waitMs: number) => void) | undefined;
}

type List = (query: EventQuery, options: CallOptions) => Promise<EventPage>;

const pageSize = 100;
const wait = '30s';
/** An empty answer that comes sooner than this is from a service that stops, or a proxy: not to ask without a rest. */
const shortPollMs = 1_000;

/**
 * Every event of the feed in its order, each once, for as long as it is wanted. Where the service cannot be reached it
 * tries again until it can, and goes on where it was; an error that will not pass is thrown.
 */
export async function* followEvents(
  list: List,
  { after, from, trackingId, signal, onCursor, onBreak }: FollowOptions,
): AsyncGenerator<FeedEvent, void, undefined> {
  let position: EventQuery =
    after === undefined && from !== undefined ? { from } : { after: after ?? 'latest' };
  const only = trackingId === undefined ? {} : { trackingId };
  let failures = 0;
  try {
    for (;;) {
      signal?.throwIfAborted();
      const askedAtMs = performance.now();
      let page: EventPage;
      try {
        page = await list({ ...position, ...only, limit: pageSize }, { signal });
      } catch (error) {
        if (!isBreak(error)) throw error;
        delete position.wait; // `onCursor` hears at once that it is back
        const waitMs = waitMsAfter(error, failures++);
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
      const isHasty = polled && page.events.length === 0 && performance.now() - askedAtMs < shortPollMs;
      if (isHasty) await pause(backoffMs(2), signal);
    }
  } catch (error) {
    if (!signal?.aborted || error !== signal.reason) throw error;
  }
}

/** Also what the service calls its own mistake (500): the place in the feed stays. */
const isBreak = (error: unknown): error is ParcelhookError =>
  isPassing(error) || (error instanceof ParcelhookError && (error.status ?? 0) >= 500);
