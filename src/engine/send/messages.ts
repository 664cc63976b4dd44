/**
 * The messages between the process and its sender threads, each with many items. An item is an array: the names of an
 * object's fields would be copied with it.
 */
import type { Phase, PhaseTimes } from './connection.js';
import type { ErrorCode, ErrorDetail } from './errors.js';
import type { SendOutcome } from './sender.js';
import type { OpenTarget } from './sealing.js';

/** The parts of an attempt from which its request is made. */
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
  /** True if the end of each phase is noted. */
  isTraced: boolean;
  /** True if the log keeps its detail even if it succeeds. */
  keepsDetail: boolean;
  /** Its first byte may go until then (`monotonicMs`), and later only with a new permission. */
  startUntilMs: number;
}

/** The outcome of a signed request. */
export interface AttemptOutcome extends Omit<
  SendOutcome,
  keyof PhaseTimes | 'remoteAddress' | 'errorDetail' | 'rawResponseHeaders' | 'requestSent'
> {
  /** By PostgreSQL's clock. The signed `webhook-timestamp` is this time in seconds. */
  startedAt: Date;
  /** The rest, as the log stores it (`detailOf`); null if it is not kept. */
  detail: string | null;
  /** When each phase ended (epoch), if the attempt is traced. */
  phaseEnds: [Phase, number][];
  /** The time that it waited for its thread. */
  queuedMs: number;
  /** Its TLS handshake took long. */
  isHeavy: boolean;
}

/** The time that a delivery has waited before its attempt, by cause; `us`: while it was sendable. */
export interface WaitedMs {
  turn: number;
  receiver: number;
  circuit: number;
  paused: number;
  rate: number;
  us: number;
}

/** The part of an attempt that nothing filters by. The log keeps it as one JSON text. */
export interface AttemptDetail extends PhaseTimes {
  /** Null for an attempt by hand, and for a success in time. */
  waitedMs: WaitedMs | null;
  /** The receiver's IP address. */
  remoteAddress: string | null;
  errorDetail: ErrorDetail | null;
  /** As sent, with names in lower case and the values of the webhook's own headers masked; null if none were sent. */
  requestHeaders: Record<string, string> | null;
  /** Null without a response, or if the shipment is erased. */
  responseHeaders: Record<string, string> | null;
  /** Absent unless an operator asked for the redelivery. */
  requestedBy?: 'OPERATOR';
}

export const noDetail: AttemptDetail = {
  waitedMs: null,
  dnsMs: null,
  connectMs: null,
  tlsMs: null,
  firstByteMs: null,
  remoteAddress: null,
  errorDetail: null,
  requestHeaders: null,
  responseHeaders: null,
};

export const parseDetail = (detail: string | null): AttemptDetail =>
  detail === null ? noDetail : { ...noDetail, ...(JSON.parse(detail) as Partial<AttemptDetail>) };

/** Adds `waitedMs` to `detail`, whose thread does not know it. */
export const withWaited = (detail: string | null, waitedMs: WaitedMs): string =>
  `${detail === null ? '{' : `${detail.slice(0, -1)},`}"waitedMs":${JSON.stringify(waitedMs)}}`;

export interface ToThread {
  /** A time of `monotonicMs`. */
  postedAtMs: number;
  /** `databaseClockAheadMs` */
  clockAheadMs: number;
  attempts: AttemptMessage[];
  /** The time until which an attempt that asked may start; null if it may not start any more. */
  permissions: [id: number, startUntilMs: number | null][];
  /** Webhooks whose targets the thread need not keep. */
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
  /** When it began to wait for the thread (`monotonicMs`). */
  sinceMs: number,
];

/** An empty one responds to an empty message, as a sign of life. */
export interface FromThread {
  outcomes: OutcomeMessage[];
  /** The attempts that ask whether they may still start. */
  questions: number[];
  /** The longest wait of a message to the thread since its last report. */
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
  isHeavy: AttemptOutcome['isHeavy'],
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
  outcome.isHeavy,
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
  isHeavy: message[13],
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
  isHeavy: false,
});
