import type {
  Delivery,
  DeliveryPage,
  EventPage,
  FeedEvent,
  ReplayRange,
  WebhookWithHealth,
} from '../../../client/api/types.js';
import { read, readPages, withQuery } from '../../api.js';

/** The body of a replay: `from` and `to` in ISO 8601, `status` absent for all that was missed. */
export type Range = Pick<ReplayRange, 'status' | 'trackingId'> & { from: string; to: string };

/** A replay would send this many; if not `isAll`, at least as many. */
export interface Count {
  found: number;
  isAll: boolean;
}

/** At most so many deliveries, and so many events, are read. */
const maxRead = 5_000;
const pageSize = 250;

/**
 * Counts what a replay of this range would send now. The API counts only as a replay begins. Erased events are counted,
 * too, although no replay sends them: neither the log nor the feed says which those are.
 */
export async function countReplay(webhookId: string, range: Range, signal?: AbortSignal): Promise<Count> {
  const { status, ...span } = range;
  const counter = { webhookId, span, signal };
  if (status !== undefined && status !== 'NEVER_ATTEMPTED') {
    const { deliveries, isAll } = await readDeliveries(counter, status);
    const found = deliveries.filter(({ attemptCount }) => status !== 'PENDING' || attemptCount > 0).length;
    return { found, isAll };
  }
  const log = await readDeliveries(counter);
  const found = log.deliveries.filter(status ? isHeldUnattempted : isMissed).length;
  if (!log.isAll) return { found, isAll: false };
  const { events, isAll } = await readWantedEvents(counter);
  const undelivered = without(events, log.deliveries);
  if (undelivered.length === 0) return { found, isAll };
  // An event recorded since the log was read has its delivery among the newest.
  const newest = await readDeliveries(counter, undefined, pageSize);
  return { found: found + without(undelivered, newest.deliveries).length, isAll };
}

function without(events: FeedEvent[], deliveries: Delivery[]): FeedEvent[] {
  const delivered = new Set(deliveries.map(({ eventId }) => eventId));
  return events.filter(({ eventId }) => !delivered.has(eventId));
}

/** A replay leaves alone those on their way or cancelled. */
const isMissed = ({ status, attemptCount }: Delivery) =>
  status === 'FAILED' || status === 'HELD' || (status === 'PENDING' && attemptCount > 0);

/** A delivery that waits for its turn is sent without a replay. */
const isHeldUnattempted = ({ status, attemptCount, heldBy }: Delivery) =>
  status === 'HELD' && attemptCount === 0 && heldBy !== 'TURN';

interface Counter {
  webhookId: string;
  span: Omit<Range, 'status'>;
  signal: AbortSignal | undefined;
}

/** The newest deliveries. Tests and notices belong to no shipment, and no replay sends them. */
async function readDeliveries({ webhookId, span, signal }: Counter, status?: string, atMost = maxRead) {
  // A replay includes `to`; the log does not.
  const to = new Date(Date.parse(span.to) + 1).toISOString();
  const pages = await readPages<DeliveryPage>(
    (cursor) => withQuery('/v1/deliveries', { webhookId, ...span, to, status, limit: pageSize, cursor }),
    atMost / pageSize,
    signal,
  );
  const deliveries = pages.flatMap((page) => page.deliveries).filter(({ trackingId }) => trackingId !== null);
  return { deliveries, isAll: pages.at(-1)!.nextCursor === null };
}

/** The feed is in the order of commit, which differs slightly from that of `recordedAt`. */
const leewayMs = 60_000;

/** The oldest events with a state that the webhook is interested in, except those that are sent without a replay. */
async function readWantedEvents({ webhookId, span: { from, to, trackingId }, signal }: Counter) {
  const { interests, health } = await read<WebhookWithHealth>(`/v1/webhooks/${webhookId}`, signal);
  const endMs = Date.parse(to);
  const parkedMs = health.parkedSince === null ? Infinity : Date.parse(health.parkedSince);
  const events: FeedEvent[] = [];
  let place: { from: string } | { after: string } = { from };
  for (let first = 0; first < maxRead; first += pageSize) {
    const address = withQuery('/v1/events', { ...place, trackingId, limit: pageSize });
    const page: EventPage = await read<EventPage>(address, signal);
    const wanted = page.events.filter(
      ({ state, recordedAt }) =>
        (interests.includes('*') || interests.includes(state)) &&
        Date.parse(recordedAt) <= endMs &&
        Date.parse(recordedAt) < parkedMs,
    );
    events.push(...wanted);
    // A page of large notifications is short, too.
    const isPast = page.events.some(({ recordedAt }) => Date.parse(recordedAt) > endMs + leewayMs);
    if (isPast || page.events.length === 0) return { events, isAll: true };
    place = { after: page.nextCursor };
  }
  return { events, isAll: false };
}
