import { describeError } from '../../platform/errors.js';
import type { Logger } from '../../platform/logger.js';
import type { Starts } from './starts.js';
import type { OpenTarget, Target } from './targets.js';
import type { Claim } from '../outbox/types.js';
import type { SendOutcome, SendRequest } from './sender.js';
import { encodeHeaders, serviceHeaders, timestampOf, sign, type SignedAttempt } from './headers.js';

export interface SendingOptions {
  send(request: SendRequest): Promise<SendOutcome>;
  starts: Starts;
  logger: Logger;
  timeoutMs: number;
  /** Parcelhook's, for `user-agent`. */
  version: string;
}

export interface AttemptOutcome extends SendOutcome {
  /** In seconds, this is the signed `webhook-timestamp`. */
  startedAt: Date;
  /** The request headers as the log stores them; null if no request went out. */
  requestHeaders: string | null;
}

/**
 * Null if the attempt may not start any more. `issuedAt`: performance.now() when the claiming statement was issued. A
 * request that cannot be made (no key opens the webhook's secrets) is a failed attempt, so that it is not retried for
 * ever.
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
      requestHeaders: outcome.requestSent ? encodeHeaders(attempt, opened.encodedHeaders) : null,
    };
  } catch (error) {
    options.logger.error(
      { deliveryId: claim.deliveryId, error: describeError(error) },
      'notification not made; the attempt counts as failed',
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
