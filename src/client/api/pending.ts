/** Answers of operations that the API's document does not have yet, in the form in which it will have them. */
import type { Notification } from './types.js';

export interface FeedEvent {
  /** The same as `webhook-id` of its notifications. */
  eventId: string;
  /** Its place within its shipment, from 1. */
  sequence: number;
  trackingId: string;
  state: string;
  recordedAt: string;
  /** What webhooks get for it. */
  notification: Notification;
}

export interface EventPage {
  events: FeedEvent[];
  /** Where to go on; never null. */
  nextCursor: string;
}

export interface EventQuery {
  /** `nextCursor` of an earlier answer, or `latest`. */
  after?: string;
  from?: string;
  limit?: number;
  trackingId?: string;
  /** How long to wait for an event where there is none, up to `30s`. */
  wait?: string;
}
