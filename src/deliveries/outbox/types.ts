/** What asked for an attempt. */
export const triggers = ['SCHEDULED', 'MANUAL', 'TEST', 'REPLAY'] as const;
export type Trigger = (typeof triggers)[number];

/** An attempt that may be made: the delivery, what it tells, and its number, the fencing token of its result. */
export interface Claim {
  shipperId: string;
  deliveryId: string;
  webhookId: string;
  /** The event's id as the world knows it: `webhook-id`. */
  eventId: string;
  body: string;
  /** When the event was recorded. */
  recordedAt: Date;
  /** Null for a notification that belongs to no shipment. */
  shipmentId: string | null;
  sequence: number;
  number: number;
  trigger: Trigger;
  failureCount: number;
  /** Of the webhook: whoever knows an older one of its revisions looks again. */
  revision: number;
  /** The webhook wants a shipment's states one at a time. */
  ordered: boolean;
  /** The webhook wants overtaken states skipped. */
  supersedes: boolean;
  /** The webhook has failed lately: its successes count too. */
  troubled: boolean;
  /** The one delivery an open circuit lets through. */
  isProbe: boolean;
  /** The personal data of its shipment is erased: what the receiver answers is not kept. */
  erased: boolean;
}

/** A claim of the outbox, and when its delivery was due, by PostgreSQL's clock. */
export type DueClaim = Claim & { dueAt: Date };

/** What is recorded of an attempt, whatever asked for it. */
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
  /** What is kept of the headers it was sent with; null where no request went out. */
  requestHeaders: string | null;
}

/** An attempt's outcome and what becomes of its delivery. */
export interface Settlement extends AttemptRecord {
  /** UNCHANGED: the webhook was found gone, or its circuit stays open; the attempt costs no retry. */
  status: 'SUCCEEDED' | 'FAILED' | 'RETRY' | 'UNCHANGED';
  /** Until the next attempt; null where none is planned. */
  delayMs: number | null;
}

/** A shipment's states for one webhook: what goes one at a time. */
export interface Turn {
  webhookId: string;
  shipmentId: string;
}

/** Turns as two arrays, for a statement's parameters. */
export const turnColumns = (turns: Turn[]): [webhookIds: string[], shipmentIds: string[]] => [
  turns.map(({ webhookId }) => webhookId),
  turns.map(({ shipmentId }) => shipmentId),
];

/** The key by which a row of the outbox is found. */
export interface RowKey {
  shipperId: string;
  deliveryId: string;
}

/** The two columns of some keys, in the order in which rows are locked. */
export function keysInOrder(keys: RowKey[]): [shipperIds: string[], deliveryIds: string[]] {
  const inOrder = [...keys].sort((a, b) => (a.deliveryId < b.deliveryId ? -1 : 1));
  return [inOrder.map(({ shipperId }) => shipperId), inOrder.map(({ deliveryId }) => deliveryId)];
}
