import type { Delivery, FeedEvent, ListedWebhook, Tracking } from '../../../client/api/types.js';
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

type Wanting = Pick<ListedWebhook, 'webhookId' | 'interests' | 'createdAt' | 'health'>;

interface Untold<Listed> {
  webhook: Listed;
  why: string;
  /** It will still get the state, once it is called again. */
  isOwed: boolean;
}

/** The webhooks that were not told of a state, and why. Whether one wanted it then is judged by what it wants now. */
export function untoldOf<Listed extends Wanting>(
  { state, recordedAt, deliveries }: Pick<Step, 'state' | 'recordedAt' | 'deliveries'>,
  webhooks: readonly Listed[],
): Untold<Listed>[] {
  const told = new Set(deliveries.map(({ webhookId }) => webhookId));
  return webhooks
    .filter(({ webhookId }) => !told.has(webhookId))
    .map((webhook) => ({ webhook, ...whyUntold(webhook, state, recordedAt) }));
}

function whyUntold(
  { interests, createdAt, health }: Wanting,
  state: string,
  recordedAt: string | null,
): Pick<Untold<Wanting>, 'why' | 'isOwed'> {
  const never = (why: string) => ({ why, isOwed: false });
  if (recordedAt === null) return never('no longer in the log');
  if (Date.parse(createdAt) > Date.parse(recordedAt)) return never('made later');
  if (interests.includes('*') || interests.includes(state)) {
    const isParked = health?.parkedSince != null && Date.parse(health.parkedSince) <= Date.parse(recordedAt);
    return isParked
      ? { why: 'too much waits for it; sent when it is called again', isOwed: true }
      : never('its settings were different then');
  }
  return never(
    interests.length > 3
      ? `wants ${interests.length} other states`
      : `wants only ${interests.map(wordOf).join(', ')}`,
  );
}

/** "1 of 6 webhooks is behind": of those that are to have the latest state; empty if none is. */
export function behindText(
  latest: Pick<Step, 'deliveries'> | undefined,
  deliveries: Delivery[],
  untold: readonly Untold<Pick<Wanting, 'webhookId'>>[] = [],
): string {
  const told = (latest?.deliveries ?? []).filter(({ reason }) => reason !== 'WEBHOOK_DELETED');
  const owed = untold.filter(({ isOwed }) => isOwed).map(({ webhook }) => webhook.webhookId);
  const wanting = new Set([...owed, ...told.map(({ webhookId }) => webhookId)]);
  const behind = new Set(owed);
  for (const { webhookId, status } of deliveries)
    if (wanting.has(webhookId) && status !== 'SUCCEEDED' && status !== 'CANCELLED') behind.add(webhookId);
  const withoutIt = told.filter(({ status }) => status === 'CANCELLED').length;
  const of = (count: number) => `${count} of ${wanting.size} ${wanting.size === 1 ? 'webhook' : 'webhooks'}`;
  if (wanting.size === 0) return '';
  if (behind.size > 0) return `${of(behind.size)} ${behind.size === 1 ? 'is' : 'are'} behind`;
  if (withoutIt > 0)
    return `${of(wanting.size - withoutIt)} ${wanting.size - withoutIt === 1 ? 'has' : 'have'} it`;
  return wanting.size === 1 ? 'Its webhook has it' : `All ${wanting.size} webhooks have it`;
}
