import type { Delivery, FeedEvent, Tracking, Webhook } from '../../../client/api/types.js';
import { wordOf } from '../../words.js';

export interface Step {
  state: string;
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

type Wanting = Pick<Webhook, 'webhookId' | 'interests' | 'createdAt'>;

/** The webhooks that were not told of a state, and why. Whether one wanted it then is judged by what it wants now. */
export function untoldOf<Listed extends Wanting>(
  { state, recordedAt, deliveries }: Pick<Step, 'state' | 'recordedAt' | 'deliveries'>,
  webhooks: readonly Listed[],
): { webhook: Listed; why: string }[] {
  const told = new Set(deliveries.map(({ webhookId }) => webhookId));
  return webhooks
    .filter(({ webhookId }) => !told.has(webhookId))
    .map((webhook) => ({ webhook, why: whyUntold(webhook, state, recordedAt) }));
}

function whyUntold({ interests, createdAt }: Wanting, state: string, recordedAt: string | null): string {
  if (recordedAt === null) return 'no longer in the log';
  if (Date.parse(createdAt) > Date.parse(recordedAt)) return 'made later';
  if (interests.includes('*') || interests.includes(state))
    return 'its settings were others then, or too much waits for it';
  return interests.length > 3
    ? `wants ${interests.length} other states`
    : `wants only ${interests.map(wordOf).join(', ')}`;
}

/** "1 of 6 webhooks is behind": of those that are to have the latest state; empty if none is. */
export function behindText(latest: Pick<Step, 'deliveries'> | undefined, deliveries: Delivery[]): string {
  const wanting = new Set(latest?.deliveries.map(({ webhookId }) => webhookId));
  const behind = new Set(
    deliveries
      .filter(
        ({ webhookId, status }) => wanting.has(webhookId) && status !== 'SUCCEEDED' && status !== 'CANCELLED',
      )
      .map(({ webhookId }) => webhookId),
  );
  if (wanting.size === 0) return '';
  if (behind.size === 0)
    return wanting.size === 1 ? 'Its webhook has it' : `All ${wanting.size} webhooks have it`;
  const are = behind.size === 1 ? 'is' : 'are';
  return `${behind.size} of ${wanting.size} ${wanting.size === 1 ? 'webhook' : 'webhooks'} ${are} behind`;
}
