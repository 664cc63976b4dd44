import type { operations } from './generated.js';
import type { DataOf, QueryOf } from './operations.js';
import type { Notification } from './types.js';

/** As the API's document has it; where it does not yet, in the form in which it will. */
type DataOr<Id extends string, Pending> = Id extends keyof operations ? DataOf<operations[Id]> : Pending;
type QueryOr<Id extends string, Pending> = Id extends keyof operations ? QueryOf<operations[Id]> : Pending;

interface Paging {
  limit?: number;
  cursor?: string;
}

/** Events, oldest first, and where to go on: `nextCursor` is never null. */
export type EventPage = DataOr<
  'listEvents',
  {
    events: {
      /** The same as `webhook-id` of its notifications. */
      eventId: string;
      /** Its place within its shipment, from 1. */
      sequence: number;
      trackingId: string;
      state: string;
      recordedAt: string;
      /** What webhooks get for it. */
      notification: Notification;
    }[];
    nextCursor: string;
  }
>;
export type FeedEvent = EventPage['events'][number];
export type EventQuery = QueryOr<
  'listEvents',
  {
    /** `nextCursor` of an earlier answer, or `latest`. */
    after?: string;
    from?: string;
    limit?: number;
    trackingId?: string;
    /** How long to wait for an event where there is none, up to `30s`. */
    wait?: string;
  }
>;

/** Attempts by the hour. */
export type WebhookStats = DataOr<
  'getWebhookStats',
  {
    hours: {
      hour: string;
      attempts: number;
      succeeded: number;
      failed: number;
      p50Ms: number | null;
      p95Ms: number | null;
    }[];
  }
>;
export type StatsQuery = QueryOr<'getWebhookStats', { hours?: number }>;

/** How far a replay has come. */
export type ReplayProgress = DataOr<
  'getReplay',
  {
    replayId: string;
    webhookId: string;
    status: 'RUNNING' | 'DONE' | 'CANCELLED';
    done: number;
    /** Null until all were found. */
    total: number | null;
    from: string;
    to: string;
    createdAt: string;
    finishedAt: string | null;
  }
>;
export type ReplayPage = DataOr<'listReplays', { replays: ReplayProgress[]; nextCursor: string | null }>;
export type ReplayQuery = QueryOr<'listReplays', Paging>;

/** Shipments, newest first, without their recipients. */
export type ShipmentPage = DataOr<
  'listShipments',
  {
    shipments: {
      trackingId: string;
      shipmentId: string;
      shipperTrackingId: string;
      /** Null until the shipment is created. */
      state: string | null;
      acceptedAt: string;
      updatedAt: string;
    }[];
    nextCursor: string | null;
  }
>;
export type ListedShipment = ShipmentPage['shipments'][number];
export type ShipmentQuery = QueryOr<
  'listShipments',
  Paging & { shipperTrackingId?: string; state?: string; from?: string; to?: string }
>;

/** Every state a shipment can be in, and which may follow. */
export type States = DataOr<'listStates', { states: { state: string; terminal: boolean; next: string[] }[] }>;

/** The states a shipment goes through; states are the deployment's own data. */
export interface Journey {
  states: string[];
  intervalMs: number;
}
