import type { Delivery, DeliveryPage, EventPage, ReplayRange, Webhook } from '../../../client/api/types.js';
import { call, withQuery } from '../../api.js';

/** As the body of a replay: `from` and `to` in ISO 8601, `status` absent for all that did not succeed. */
export type Range = Pick<ReplayRange, 'status' | 'trackingId'> & { from: string; to: string };

/** Null is more than `maxCounted`. */
export type Count = number | null;

export const maxCounted = 1_000;
const maxEvents = 5_000;
const pageSize = 250;

const bounded = (count: number): Count => (count > maxCounted ? null : count);

/** Counts what a replay of this range would send now. The API counts only as a replay begins. */
export const countReplay = (
  webhook: Pick<Webhook, 'webhookId' | 'interests'>,
  range: Range,
  signal?: AbortSignal,
): Promise<Count> =>
  range.status ? countDeliveries(webhook.webhookId, range, signal) : countMissed(webhook, range, signal);

async function countDeliveries(webhookId: string, range: Range, signal?: AbortSignal): Promise<Count> {
  return bounded((await readDeliveries(webhookId, range, signal)).length);
}

/** At most `maxCounted` and one page. Tests and notices belong to no shipment, and no replay sends them. */
async function readDeliveries(webhookId: string, range: Range, signal?: AbortSignal): Promise<Delivery[]> {
  const found: Delivery[] = [];
  let cursor: string | null = null;
  do {
    const address = withQuery('/v1/deliveries', { webhookId, ...range, limit: pageSize, cursor });
    const page = await read<DeliveryPage>(address, signal);
    found.push(...page.deliveries.filter(({ trackingId }) => trackingId !== null));
    cursor = page.nextCursor;
  } while (cursor && found.length <= maxCounted);
  return found;
}

/** Events that the webhook is interested in and that did not succeed there, whether they have a delivery or not. */
async function countMissed(
  { webhookId, interests }: Pick<Webhook, 'webhookId' | 'interests'>,
  range: Range,
  signal?: AbortSignal,
): Promise<Count> {
  const deliveries = await readDeliveries(webhookId, range, signal);
  if (deliveries.length > maxCounted) return null;
  const statuses = new Map(deliveries.map(({ eventId, status }) => [eventId, status]));
  const isWanted = (state: string) => interests.includes('*') || interests.includes(state);
  const { trackingId } = range;
  let count = 0;
  let place: { from: string } | { after: string } = { from: range.from };
  for (let seen = 0; seen < maxEvents; seen += pageSize) {
    const address = withQuery('/v1/events', { ...place, trackingId, limit: pageSize });
    const { events, nextCursor }: EventPage = await read<EventPage>(address, signal);
    const ofRange = events.filter(({ recordedAt }) => Date.parse(recordedAt) <= Date.parse(range.to));
    count += ofRange.filter(
      ({ eventId, state }) => isWanted(state) && isMissed(statuses.get(eventId)),
    ).length;
    if (ofRange.length < pageSize) return bounded(count);
    place = { after: nextCursor };
  }
  return null;
}

/** Undefined: there never was a delivery. A replay leaves alone those under way or cancelled. */
const isMissed = (status: string | undefined) =>
  status === undefined || status === 'FAILED' || status === 'HELD' || status === 'PENDING';

const read = <Data>(path: string, signal?: AbortSignal) =>
  call<Data>('GET', path, undefined, signal ? { signal } : {});
