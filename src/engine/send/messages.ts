/**
 * The messages between the process and its sender threads, each with many items. An item is an array: the names of an
 * object's fields would be copied with it.
 */
import type { ErrorCode } from './errors.js';
import type { AttemptOutcome } from './sender.js';
import type { OpenTarget } from './targets.js';

/** The monotonic clock of the machine, which is the same in each thread; performance.now() is not. */
const behindMs = Number(process.hrtime.bigint()) / 1e6 - performance.now();
export const monotonicMs = (hereMs = performance.now()): number => hereMs + behindMs;

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
  /** The log keeps all of it, also if it succeeds. */
  keepsDetail: boolean;
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
  keepsDetail: boolean,
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
  responseBody: AttemptOutcome['responseBody'],
  durationMs: AttemptOutcome['durationMs'],
  retryAfter: AttemptOutcome['retryAfter'],
  webhookDelivery: AttemptOutcome['webhookDelivery'],
  detail: AttemptOutcome['detail'],
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
  outcome.responseBody,
  outcome.durationMs,
  outcome.retryAfter,
  outcome.webhookDelivery,
  outcome.detail,
  outcome.phaseEnds,
  outcome.queuedMs,
];

export const unpackOutcome = (message: OutcomeMessage): AttemptOutcome => ({
  startedAt: new Date(message[1]),
  ok: message[2],
  withheld: message[3],
  statusCode: message[4],
  errorCode: message[5],
  responseBody: message[6],
  durationMs: message[7],
  retryAfter: message[8],
  webhookDelivery: message[9],
  detail: message[10],
  phaseEnds: message[11],
  queuedMs: message[12],
});

/** The outcome of an attempt that has no response and nothing to show. */
export const failedOutcome = (errorCode: ErrorCode, startedAt: Date, durationMs = 0): AttemptOutcome => ({
  startedAt,
  ok: false,
  withheld: false,
  statusCode: null,
  errorCode,
  responseBody: null,
  durationMs,
  retryAfter: null,
  webhookDelivery: null,
  detail: null,
  phaseEnds: [],
  queuedMs: 0,
});
