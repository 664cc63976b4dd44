import type { FeedEvent } from '../api/types.js';
import type { Client } from '../client.js';

/** Enough for any journey: 2,500 events of a shipment. */
const maxPages = 10;
export const pageSize = 250;
/** An event is in the feed at most half a second after its commit. */
const wait = '2s';
/** The service waits 15 s for the response to its notification. */
const limits = { totalTimeoutMs: 10_000 };

/**
 * The shipment's events in the feed after `lastSequence`, up to and with `eventId`, in order. Null if the feed does not
 * have that event: it is not there yet, or no longer.
 */
export async function eventsUpTo(
  { events }: Pick<Client, 'events'>,
  { trackingId, eventId }: { trackingId: string; eventId: string },
  lastSequence: number,
): Promise<FeedEvent[] | null> {
  const found: FeedEvent[] = [];
  let after: string | undefined;
  for (let page = 0; page < maxPages; page++) {
    const position = after === undefined ? {} : { after, wait };
    const { events: some, nextCursor } = await events.list(
      { trackingId, limit: pageSize, ...position },
      limits,
    );
    found.push(...some);
    const place = found.findIndex((event) => event.eventId === eventId);
    if (place >= 0) return found.slice(0, place + 1).filter(({ sequence }) => sequence > lastSequence);
    if (after !== undefined && some.length === 0) return null;
    after = nextCursor;
  }
  return null;
}
