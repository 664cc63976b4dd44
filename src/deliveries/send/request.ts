import { describeError } from '../../platform/errors.js';
import type { Logger } from '../../platform/logger.js';
import type { Starts } from './starts.js';
import type { OpenTarget, Target } from './targets.js';
import type { Claim } from '../outbox/types.js';
import type { SendOutcome, SendRequest } from './sender.js';
import { keptHeaders, serviceHeaders, timestampOf, type SignedAttempt } from './kept-headers.js';
import { sign } from './signature.js';

export interface SendingOptions {
  send(request: SendRequest): Promise<SendOutcome>;
  starts: Starts;
  logger: Logger;
  timeoutMs: number;
  /** The program's, for `user-agent`. */
  version: string;
}

export interface AttemptOutcome extends SendOutcome {
  /** To the second, this is what was signed as `webhook-timestamp`. */
  startedAt: Date;
  /** What the log keeps of the headers; null where no request went out. */
  requestHeaders: string | null;
}

/**
 * Sends once; null if it might not start any more. A claim that waited long, or whose statement took long, is asked
 * about like one whose connection did. What cannot even be sent (no key opens its secrets) is an attempt that failed:
 * it is not tried for ever.
 */
export async function sendClaim(
  options: SendingOptions,
  claim: Claim,
  target: Target,
  issuedAt: number,
): Promise<AttemptOutcome | null> {
  const startedAt = new Date();
  try {
    const opened = target.open();
    const attempt = signed(options, claim, secretsOf(target, opened, startedAt), startedAt);
    const mayStart = () => options.starts.mayStart(claim, issuedAt);
    const outcome = await options.send(requestOf(options, claim, opened, attempt, mayStart));
    if (outcome.withheld) return null;
    return {
      ...outcome,
      responseBody: claim.erased ? null : outcome.responseBody,
      startedAt,
      requestHeaders: outcome.requestSent ? keptHeaders(attempt, opened.kept) : null,
    };
  } catch (error) {
    options.logger.error(
      { deliveryId: claim.deliveryId, error: describeError(error) },
      'notification not made',
    );
    return unsent(startedAt);
  }
}

const unsent = (startedAt: Date): AttemptOutcome => ({
  ok: false,
  withheld: false,
  statusCode: null,
  errorCode: 'PROTOCOL',
  errorDetail: null,
  responseBody: null,
  durationMs: 0,
  retryAfter: null,
  requestSent: false,
  startedAt,
  requestHeaders: null,
});

function signed(
  { version }: SendingOptions,
  { eventId, body, sequence, number }: Claim,
  secrets: string[],
  startedAt: Date,
): SignedAttempt {
  const signature = sign(secrets, eventId, timestampOf({ startedAt }), body);
  return { eventId, sequence, number, startedAt, signature, version };
}

/** The request of one attempt: the stored bytes, signed now (contract, section 5). */
const requestOf = (
  { timeoutMs }: SendingOptions,
  { shipperId, body }: Claim,
  { url, headers }: OpenTarget,
  attempt: SignedAttempt,
  mayStart: NonNullable<SendRequest['mayStart']>,
): SendRequest => ({
  url,
  shipperId,
  body,
  timeoutMs,
  headers: { ...headers, ...serviceHeaders(attempt) },
  mayStart,
});

function secretsOf(
  { previousSecretUntil }: Target,
  { secret, previousSecret }: OpenTarget,
  now: Date,
): string[] {
  const isRotating = previousSecretUntil !== null && previousSecretUntil > now;
  return isRotating && previousSecret !== null ? [secret, previousSecret] : [secret];
}
