import { rowSet } from '../../platform/database/parameters.js';
import type { TraceContext } from '../../platform/telemetry/tracing.js';

export const triggers = ['SCHEDULED', 'MANUAL', 'TEST', 'REPLAY'] as const;
export type Trigger = (typeof triggers)[number];

/**
 * A longer body is no part of a claim: pages and what waits would have a copy for each webhook. An erased one is: what a
 * process keeps of large bodies may be from before the erasure.
 */
export const maxClaimedBodyBytes = 16 * 1024;

/** `eventId`: its own, not its caller's. */
export interface LargeBody {
  eventId: string;
  bytes: number;
}

/** `number` is the fencing token of the outcome. */
export interface Claim {
  shipperId: string;
  deliveryId: string;
  webhookId: string;
  /** Sent as `webhook-id`. */
  eventId: string;
  /** Empty in a claim of a large one, which is read when the attempt starts. */
  body: string;
  large: LargeBody | null;
  recordedAt: Date;
  shipmentId: string | null;
  sequence: number;
  number: number;
  trigger: Trigger;
  failureCount: number;
  /** A cached target of an older one is read again. */
  revision: number;
  ordered: boolean;
  supersedes: boolean;
  /** True if the webhook has failed lately, so that its successes count for the circuit, too. */
  troubled: boolean;
  /** True if the attempt tests an open circuit. */
  isProbe: boolean;
  /** The shipment is erased, so the response is not stored. */
  erased: boolean;
  /** The span that recorded the event. */
  trace: TraceContext;
}

export type DueClaim = Claim & {
  /** When it is due, by PostgreSQL's clock. */
  dueAt: Date;
  /** Since when it was due and its webhook called, as of the claiming statement; 0 for a probe. */
  sendableForMs: number;
  /** Why the webhook was not called once the delivery could go; null if it was called. */
  stoppedBy?: 'paused' | 'circuit' | null;
  /** When it was called again. */
  calledAt?: Date | null;
};

export interface AttemptRecord {
  shipperId: string;
  deliveryId: string;
  number: number;
  trigger: Trigger;
  startedAt: Date;
  durationMs: number;
  statusCode: number | null;
  errorCode: string | null;
  responseBody: string | null;
  /** The rest, as one JSON text (`send/detail.ts`); null if it is not kept. */
  detail: string | null;
}

/** Why a delivery has failed although it had retries left: the response asked for none. */
export type FailureReason = 'REFUSED';

export interface Settlement extends AttemptRecord {
  /** Null unless `FAILED`, and if the retries are used up. */
  reason: FailureReason | null;
  /** UNCHANGED: the attempt costs no retry, because the webhook is gone or its circuit stays open. */
  status: 'SUCCEEDED' | 'FAILED' | 'RETRY' | 'UNCHANGED';
  /** Null if no further attempt is planned. */
  delayMs: number | null;
}

export interface Turn {
  webhookId: string;
  shipmentId: string;
}

export const turnRows = rowSet<Turn>({
  webhook_id: ['uuid', ({ webhookId }) => webhookId],
  shipment_id: ['uuid', ({ shipmentId }) => shipmentId],
});

export interface RowKey {
  shipperId: string;
  deliveryId: string;
}

export const keyRows = rowSet<RowKey>({
  shipper_id: ['uuid', ({ shipperId }) => shipperId],
  delivery_id: ['uuid', ({ deliveryId }) => deliveryId],
});

/** The order in which rows are locked. */
export const inLockOrder = <Key extends RowKey>(keys: readonly Key[]): Key[] =>
  [...keys].sort((a, b) => (a.deliveryId < b.deliveryId ? -1 : 1));

/** `dueFromMs` is an epoch time; null if it is unknown. */
export interface Due {
  webhookId: string;
  dueFromMs: number | null;
}

/** Further deliveries are inserted as READY, for any process. */
export interface Room {
  byWebhook: Record<string, number>;
  /** Room for each webhook that is not in `byWebhook`. */
  ofOthers: number;
  total: number;
}

export const noRoom: Room = { byWebhook: {}, ofOthers: 0, total: 0 };

/** Hands recorded deliveries to the dispatcher of this process, or of another one. */
export interface HandOver {
  /** One entry per event, its shipper's id. */
  reserve(shipperIds: string[]): Room;
  /** Called once per `reserve`, even after a failure. `left`: others due. `asOfMs`: performance.now() before it. */
  recorded(room: Room, claims: DueClaim[], left: Due[], asOfMs: number): void;
  notify(due: Due[]): void;
}

export function distinctDue(due: Due[]): Due[] {
  const byWebhook = new Map<string, number | null>();
  for (const { webhookId, dueFromMs } of due) {
    const known = byWebhook.get(webhookId);
    const earliest = known === null || dueFromMs === null ? null : Math.min(known ?? Infinity, dueFromMs);
    byWebhook.set(webhookId, earliest);
  }
  return [...byWebhook].map(([webhookId, dueFromMs]) => ({ webhookId, dueFromMs }));
}

/** Stands for webhooks whose deliveries may have been due for long. */
export const dueSinceUnknown = (webhookIds: Iterable<string>): Due[] =>
  [...new Set(webhookIds)].map((webhookId) => ({ webhookId, dueFromMs: null }));
