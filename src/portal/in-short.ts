/** Deliveries and attempts told in a few words, for rows. Pure: the clock is an argument. */

import { durationText, waitText } from './units.js';
import { wordOf } from './words.js';

export interface AttemptLike {
  durationMs: number | null;
  statusCode: number | null;
  errorCode: string | null;
  errorDetail?: string | null | undefined;
  startedAt?: string;
}

export interface DeliveryLike {
  status: string;
  heldBy: string | null;
  nextProbeAt: string | null;
  reason: string | null;
  attemptCount: number;
  lastAttempt: AttemptLike | null;
  nextAttemptAt: string | null;
  eventId?: string;
}

export const isUnfinished = ({ status }: { status: string }) =>
  status === 'PENDING' || status === 'SENDING' || status === 'HELD';

/** A delivery that failed and is tried again: the API has it as `PENDING`. */
export const isRetrying = ({ status, attemptCount }: Pick<DeliveryLike, 'status' | 'attemptCount'>) =>
  status === 'PENDING' && attemptCount > 0;

/** Text: "Retrying 2/10"; without the number where attempts by hand have made it meaningless. */
export const retryingText = (attemptCount: number, maxAttempts: number): string =>
  attemptCount < maxAttempts ? `Retrying ${attemptCount}/${maxAttempts}` : 'Retrying';

export function fromNow(at: string | null, nowMs: number): string {
  const leftMs = at === null ? 0 : Date.parse(at) - nowMs;
  return leftMs > 0 ? `in ${waitText(leftMs)}` : 'now';
}

/** Says when the next probe goes out: after the circuit's wait, as the next due delivery, maybe a retry in minutes. */
export function probeFromNow(at: string | null, nowMs: number): string {
  if (at === null) return 'now';
  return Date.parse(at) <= nowMs ? 'with the next retry' : `${fromNow(at, nowMs)} or later`;
}

/** Whether and how fast a webhook is called. */
export interface Calls {
  status: string;
  maxPerSecond: number | null;
}

/** Also of a webhook that is deleted: its deliveries wait for nothing. */
export const freely: Calls = { status: 'ACTIVE', maxPerSecond: null };

/** A webhook that is not called keeps the times of its retries, but none of them is kept to. */
export const isCalled = ({ status }: Calls) => status === 'ACTIVE';

/** A delivery that waits its turn, and one of those it may wait for. */
export interface Turn extends DeliveryLike {
  deliveryId: string;
  webhookId: string;
  trackingId: string | null;
  state: string;
}

/**
 * The delivery that `delivery` waits for, if it is among `others`: the first that its webhook is still owed. One that
 * waits its turn itself is not the first: a filter left that out.
 */
export function blockerOf<Other extends Turn>(delivery: Turn, others: readonly Other[]): Other | null {
  if (delivery.heldBy !== 'TURN') return null;
  const found = others
    .filter(
      (other) =>
        isUnfinished(other) &&
        other.webhookId === delivery.webhookId &&
        other.trackingId === delivery.trackingId &&
        other.deliveryId < delivery.deliveryId,
    )
    .reduce<Other | null>(
      (first, other) => (first && first.deliveryId < other.deliveryId ? first : other),
      null,
    );
  return found?.heldBy === 'TURN' ? null : found;
}

/** Text: "Created (400, retry in 1 min)". */
export function blockerInShort(blocker: Turn, nowMs: number): string {
  const { status, state, lastAttempt } = blocker;
  const wait = waitInShort(blocker, nowMs);
  const parts =
    status === 'SENDING'
      ? ['being sent']
      : [
          lastAttempt && isFailure(lastAttempt) && reasonInShort(lastAttempt),
          lastAttempt && status === 'PENDING' ? `retry ${wait}` : wait,
        ];
  const about = parts.filter(Boolean).join(', ');
  return about ? `${wordOf(state)} (${about})` : wordOf(state);
}

export const isFailure = ({ errorCode, statusCode }: AttemptLike) =>
  errorCode !== null || statusCode === null || statusCode < 200 || statusCode > 299;

const holds: Record<string, string> = {
  TURN: 'waits for an earlier state',
  PAUSED: 'paused',
  DISABLED: 'disabled',
  SUSPENDED: 'suspended',
};

/** Text for a row of the log, beside the status: "in 4 min", "paused"; empty where the status says it all. */
export function waitInShort(
  delivery: DeliveryLike,
  nowMs: number,
  webhook = freely,
  blocker: Turn | null = null,
): string {
  const { status, heldBy, nextProbeAt, nextAttemptAt, lastAttempt } = delivery;
  if (blocker) return `waits for ${blockerInShort(blocker, nowMs)}`;
  if (status === 'HELD' && heldBy === 'RATE')
    return webhook.maxPerSecond === null
      ? 'called more slowly for now'
      : `at most ${webhook.maxPerSecond} a second`;
  if (status === 'HELD')
    return heldBy === 'CIRCUIT' ? `probe ${probeFromNow(nextProbeAt, nowMs)}` : (holds[heldBy ?? ''] ?? '');
  if (status !== 'PENDING') return '';
  if (!isCalled(webhook)) return holds[webhook.status] ?? '';
  return lastAttempt || nextAttemptAt ? fromNow(nextAttemptAt, nowMs) : '';
}

/** All but `HTTP_STATUS`, of which the status says more. */
export const errorsInShort: Record<string, string> = {
  TIMEOUT: 'No response',
  DNS: 'Name not found',
  CONNECT: 'Refused the connection',
  RESET: 'Connection closed',
  TLS: 'TLS failed',
  ADDRESS_DENIED: 'Address refused',
  PROTOCOL: 'Invalid HTTP',
  LOST: 'Interrupted',
};

/** Text: "400", "refused the connection". */
function reasonInShort({ statusCode, errorCode }: AttemptLike): string {
  const error = errorsInShort[errorCode ?? ''];
  return error
    ? error.charAt(0).toLowerCase() + error.slice(1)
    : String(statusCode ?? errorCode ?? 'interrupted');
}

/** Text for a row of the log: "503 in 212 ms", "No response in 15 s", "Refused the connection". */
export function outcomeInShort(attempt: AttemptLike | null): string {
  if (!attempt) return '–';
  const { statusCode, errorCode, durationMs } = attempt;
  if (durationMs === null && statusCode === null) return 'Interrupted';
  const error = errorsInShort[errorCode ?? ''];
  const what = error ?? String(statusCode ?? errorCode);
  const isTimed = durationMs !== null && (!error || errorCode === 'TIMEOUT');
  return isTimed ? `${what} in ${durationText(durationMs)}` : what;
}
