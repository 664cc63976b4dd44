import type { TraceContext } from '../../platform/tracing.js';

/** The causes of an attempt. */
export const triggers = ['SCHEDULED', 'MANUAL', 'TEST', 'REPLAY'] as const;
export type Trigger = (typeof triggers)[number];

/** An attempt that this process may make. `number` is the fencing token of its outcome. */
export interface Claim {
  shipperId: string;
  deliveryId: string;
  webhookId: string;
  /** The event's public id, sent as `webhook-id`. */
  eventId: string;
  body: string;
  recordedAt: Date;
  /** Null for an event that belongs to no shipment. */
  shipmentId: string | null;
  sequence: number;
  number: number;
  trigger: Trigger;
  failureCount: number;
  /** Revision of the webhook; a cached target of an older one is read again. */
  revision: number;
  /** The webhook receives a shipment's states in order. */
  ordered: boolean;
  /** The webhook skips overtaken states. */
  supersedes: boolean;
  /** The webhook has failed lately, so its successes count for the circuit, too. */
  troubled: boolean;
  /** Tests an open circuit. */
  isProbe: boolean;
  /** The shipment's personal data is erased, so the response is not stored. */
  erased: boolean;
  /** The span that recorded the event. */
  trace: TraceContext;
}

/** A claim of an outbox row. */
export type DueClaim = Claim & {
  /** By PostgreSQL's clock. */
  dueAt: Date;
  /** Since when it was due and its webhook called, as of the claiming statement; 0 for a probe. */
  sendableForMs: number;
};

/** An attempt as the log stores it, whatever its trigger. */
export interface AttemptRecord {
  shipperId: string;
  deliveryId: string;
  number: number;
  trigger: Trigger;
  startedAt: Date;
  durationMs: number;
  statusCode: number | null;
  errorCode: string | null;
  errorDetail: string | null;
  responseBody: string | null;
  /** The stored part of the request's headers; null if no request was sent. */
  requestHeaders: string | null;
}

/** An attempt's outcome and its effect on the delivery. */
export interface Settlement extends AttemptRecord {
  /** UNCHANGED: the attempt costs no retry, because the webhook is gone or its circuit stays open. */
  status: 'SUCCEEDED' | 'FAILED' | 'RETRY' | 'UNCHANGED';
  /** Until the next attempt; null if none is planned. */
  delayMs: number | null;
}

/** One webhook's deliveries of one shipment, which go in order. */
export interface Turn {
  webhookId: string;
  shipmentId: string;
}

/** Turns as two arrays, as parameters of a statement. */
export const turnColumns = (turns: Turn[]): [webhookIds: string[], shipmentIds: string[]] => [
  turns.map(({ webhookId }) => webhookId),
  turns.map(({ shipmentId }) => shipmentId),
];

/** Primary key of an outbox row. */
export interface RowKey {
  shipperId: string;
  deliveryId: string;
}

/** Keys as two arrays, in the order in which rows are locked. */
export function keysInOrder(keys: RowKey[]): [shipperIds: string[], deliveryIds: string[]] {
  const inOrder = [...keys].sort((a, b) => (a.deliveryId < b.deliveryId ? -1 : 1));
  return [inOrder.map(({ shipperId }) => shipperId), inOrder.map(({ deliveryId }) => deliveryId)];
}

/** A webhook that is owed something due, and since when (epoch); null if that is unknown. */
export interface Due {
  webhookId: string;
  dueFromMs: number | null;
}

/**
 * How many deliveries a recording statement may insert as claimed by this process, by webhook and in total. Further
 * ones are inserted as READY, for any process.
 */
export interface Room {
  byWebhook: Record<string, number>;
  /** For each webhook that is not in `byWebhook`. */
  ofOthers: number;
  total: number;
}

export const noRoom: Room = { byWebhook: {}, ofOthers: 0, total: 0 };

/** Hands recorded deliveries to the dispatcher of this process, or of another one. */
export interface HandOver {
  /** Reserves room for events about to be recorded: one entry per event, its shipper's id. */
  reserve(shipperIds: string[]): Room;
  /**
   * Called once after each `reserve`, even if the statement failed, with the claims it made and the other deliveries
   * that are due. `asOfMs`: performance.now() before the statement was sent.
   */
  recorded(room: Room, claims: DueClaim[], left: Due[], asOfMs: number): void;
  /** These webhooks have something due. */
  notify(due: Due[]): void;
}

/** Each webhook once, with its earliest time. */
export function distinctDue(due: Due[]): Due[] {
  const byWebhook = new Map<string, number | null>();
  for (const { webhookId, dueFromMs } of due) {
    const known = byWebhook.get(webhookId);
    const earliest = known === null || dueFromMs === null ? null : Math.min(known ?? Infinity, dueFromMs);
    byWebhook.set(webhookId, earliest);
  }
  return [...byWebhook].map(([webhookId, dueFromMs]) => ({ webhookId, dueFromMs }));
}

/** For webhooks whose deliveries may have been due for long. */
export const dueSinceUnknown = (webhookIds: Iterable<string>): Due[] =>
  [...new Set(webhookIds)].map((webhookId) => ({ webhookId, dueFromMs: null }));
