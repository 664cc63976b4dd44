/**
 * The messages between the process and its sender threads, each with many items. An item is an array: the names of an
 * object's fields would be copied with it.
 */
import type { ErrorCode } from './errors.js';
import type { AttemptOutcome } from './sender.js';
import type { OpenTarget } from './targets.js';

/** The monotonic clock of the machine, which is the same in each thread. */
export function monotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1_000 + nanoseconds / 1e6;
}

/** performance.now() begins with its thread. The thread may have to wait for a CPU between the two readings. */
const aheadMs = Math.max(...Array.from({ length: 10 }, () => monotonicMs() - performance.now()));

export const monotonicOf = (hereMs: number): number => hereMs + aheadMs;

/** Of an attempt, what its request is made of. */
export interface Outgoing {
  shipperId: string;
  /** Sent as `webhook-id`. */
  eventId: string;
  sequence: number;
  number: number;
  /** The response is not stored. */
  erased: boolean;
  /** Bytes, if threads share them. */
  body: string | Uint8Array;
  traceparent: string;
  /** When its phases end is noted. */
  isTraced: boolean;
  /** By `monotonicMs`. Until then its first byte may go, later only with a new permission. */
  startUntilMs: number;
}

export interface ToThread {
  /** By `monotonicMs`. */
  postedAtMs: number;
  attempts: AttemptMessage[];
  /** Until when an attempt that asked may start; null: not any more. */
  permissions: [id: number, startUntilMs: number | null][];
  /** Webhooks that are called no more. */
  forgotten: string[];
}

/** `target` is null if the thread has it; a large body is shared. */
export type AttemptMessage = [
  id: number,
  webhookId: string,
  target: OpenTarget | null,
  shipperId: string,
  eventId: string,
  body: string | SharedArrayBuffer,
  sequence: number,
  number: number,
  erased: boolean,
  traceparent: string,
  isTraced: boolean,
  startUntilMs: number,
  /** Since when it waits for the thread, by `monotonicMs`. */
  sinceMs: number,
];

/** Also without content, in response to such a message: a sign of life. */
export interface FromThread {
  outcomes: OutcomeMessage[];
  /** The attempts that ask whether they may still start. */
  questions: number[];
  /** The longest that a message to the thread has waited since the last one from it. */
  waitedMs: number;
  problems: { fields: object; text: string }[];
}

export type OutcomeMessage = [
  id: number,
  startedAtMs: number,
  ok: AttemptOutcome['ok'],
  withheld: AttemptOutcome['withheld'],
  statusCode: AttemptOutcome['statusCode'],
  errorCode: AttemptOutcome['errorCode'],
  errorDetail: AttemptOutcome['errorDetail'],
  responseBody: AttemptOutcome['responseBody'],
  responseHeaders: AttemptOutcome['responseHeaders'],
  requestHeaders: AttemptOutcome['requestHeaders'],
  requestSent: AttemptOutcome['requestSent'],
  durationMs: AttemptOutcome['durationMs'],
  dnsMs: AttemptOutcome['dnsMs'],
  connectMs: AttemptOutcome['connectMs'],
  tlsMs: AttemptOutcome['tlsMs'],
  firstByteMs: AttemptOutcome['firstByteMs'],
  remoteAddress: AttemptOutcome['remoteAddress'],
  retryAfter: AttemptOutcome['retryAfter'],
  webhookDelivery: AttemptOutcome['webhookDelivery'],
  phaseEnds: AttemptOutcome['phaseEnds'],
  queuedMs: AttemptOutcome['queuedMs'],
];

export const packOutcome = (id: number, outcome: AttemptOutcome): OutcomeMessage => [
  id,
  outcome.startedAt.getTime(),
  outcome.ok,
  outcome.withheld,
  outcome.statusCode,
  outcome.errorCode,
  outcome.errorDetail,
  outcome.responseBody,
  outcome.responseHeaders,
  outcome.requestHeaders,
  outcome.requestSent,
  outcome.durationMs,
  outcome.dnsMs,
  outcome.connectMs,
  outcome.tlsMs,
  outcome.firstByteMs,
  outcome.remoteAddress,
  outcome.retryAfter,
  outcome.webhookDelivery,
  outcome.phaseEnds,
  outcome.queuedMs,
];

export const unpackOutcome = (message: OutcomeMessage): AttemptOutcome => ({
  startedAt: new Date(message[1]),
  ok: message[2],
  withheld: message[3],
  statusCode: message[4],
  errorCode: message[5],
  errorDetail: message[6],
  responseBody: message[7],
  responseHeaders: message[8],
  requestHeaders: message[9],
  requestSent: message[10],
  durationMs: message[11],
  dnsMs: message[12],
  connectMs: message[13],
  tlsMs: message[14],
  firstByteMs: message[15],
  remoteAddress: message[16],
  retryAfter: message[17],
  webhookDelivery: message[18],
  phaseEnds: message[19],
  queuedMs: message[20],
});

/** The outcome of an attempt that has no response and nothing to show. */
export const failedOutcome = (errorCode: ErrorCode, startedAt: Date, durationMs = 0): AttemptOutcome => ({
  startedAt,
  ok: false,
  withheld: false,
  statusCode: null,
  errorCode,
  errorDetail: null,
  responseBody: null,
  responseHeaders: null,
  requestHeaders: null,
  requestSent: false,
  durationMs,
  dnsMs: null,
  connectMs: null,
  tlsMs: null,
  firstByteMs: null,
  remoteAddress: null,
  retryAfter: null,
  webhookDelivery: null,
  phaseEnds: [],
  queuedMs: 0,
});
