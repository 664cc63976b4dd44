import type { Delivery, FeedEvent, Tracking } from '../../../client/api/types.js';

export interface Step {
  state: string;
  /** The time in milliseconds when the shipment entered the state, as reported. */
  timestamp: number;
  lat: number | null;
  lng: number | null;
  /** Null for a state that is older than the log. */
  recordedAt: string | null;
  deliveries: Delivery[];
}

/**
 * The states of a shipment, oldest first, and what was sent about each. An event's `sequence` is its position in the
 * history, from 1; a state may come twice.
 */
export function stepsOf(
  history: Tracking['history'],
  events: Pick<FeedEvent, 'eventId' | 'sequence' | 'recordedAt'>[],
  deliveries: Delivery[],
): Step[] {
  const bySequence = new Map(events.map((event) => [event.sequence, event]));
  return history.map(({ state, timestamp, lat, lng }, index) => {
    const event = bySequence.get(index + 1);
    const told = deliveries.filter(({ eventId }) => eventId === event?.eventId);
    return {
      state,
      timestamp,
      lat,
      lng,
      recordedAt: event?.recordedAt ?? null,
      deliveries: told.toReversed(),
    };
  });
}
