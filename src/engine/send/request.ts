import { describeError } from '../../platform/errors.js';
import type { Logger } from '../../platform/telemetry/logger.js';
import { traceparentOf, type Tracing } from '../../platform/telemetry/tracing.js';
import type { OpenTarget, Target } from './targets.js';
import type { Claim } from '../outbox/types.js';
import type { SendOutcome, SendRequest } from './sender.js';
import { encodeHeaders, serviceHeaders, timestampOf, sign, type SignedAttempt } from './headers.js';
import { encodeResponseHeaders } from './response-headers.js';

export interface SendingOptions {
  send(request: SendRequest): Promise<SendOutcome>;
  /** See `attempt/starts.ts`. */
  starts: { mayStart(claim: Claim, issuedAt: number): true | Promise<boolean> };
  logger: Logger;
  timeoutMs: number;
  tracing: Tracing;
  /** Parcelhook's, for `user-agent`. */
  version: string;
}

export interface AttemptOutcome extends Omit<SendOutcome, 'rawResponseHeaders'> {
  /** In seconds, this is the signed `webhook-timestamp`. */
  startedAt: Date;
  /** The request headers as the log stores them; null if no request went out. */
  requestHeaders: string | null;
  /** As the log stores them; null without a response. */
  responseHeaders: string | null;
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
  const span = options.tracing.start('attempt', {
    parent: claim.trace,
    kind: 'client',
    startedAtMs: startedAt.getTime(),
  });
  try {
    const opened = target.open();
    const secrets = secretsOf(target, opened, startedAt);
    const attempt = signed(options, claim, secrets, startedAt, traceparentOf(span));
    const { rawResponseHeaders, ...outcome } = await options.send({
      url: opened.url,
      shipperId: claim.shipperId,
      body: claim.body,
      timeoutMs: options.timeoutMs,
      headers: [...opened.headers, ...serviceHeaders(attempt)],
      mayStart: () => options.starts.mayStart(claim, issuedAt),
      onPhase: span.isSampled ? span.event : undefined,
    });
    if (outcome.withheld) return null;
    if (span.isSampled) span.end(endOf(claim, outcome));
    return {
      ...outcome,
      responseBody: claim.erased ? null : outcome.responseBody,
      responseHeaders: claim.erased ? null : encodeResponseHeaders(rawResponseHeaders, startedAt),
      startedAt,
      requestHeaders: outcome.requestSent ? encodeHeaders(attempt, opened.encodedHeaders) : null,
    };
  } catch (error) {
    options.logger.error(
      { deliveryId: claim.deliveryId, error: describeError(error) },
      'notification not made; the attempt counts as failed',
    );
    if (span.isSampled) span.end(endOf(claim, unsent(startedAt)));
    return unsent(startedAt);
  }
}

const endOf = (
  claim: Claim,
  { ok, statusCode, errorCode }: Pick<SendOutcome, 'ok' | 'statusCode' | 'errorCode'>,
) => ({
  failed: !ok,
  attributes: {
    'parcelhook.shipper_id': claim.shipperId,
    'parcelhook.webhook_id': claim.webhookId,
    'parcelhook.delivery_id': claim.deliveryId,
    'parcelhook.attempt': claim.number,
    'parcelhook.trigger': claim.trigger,
    ...(statusCode !== null && { 'http.response.status_code': statusCode }),
    ...(errorCode !== null && { 'error.type': errorCode }),
  },
});

const unsent = (startedAt: Date): AttemptOutcome => ({
  ok: false,
  withheld: false,
  statusCode: null,
  errorCode: 'PROTOCOL',
  errorDetail: null,
  responseBody: null,
  responseHeaders: null,
  durationMs: 0,
  dnsMs: null,
  connectMs: null,
  tlsMs: null,
  firstByteMs: null,
  remoteAddress: null,
  retryAfter: null,
  webhookDelivery: null,
  requestSent: false,
  startedAt,
  requestHeaders: null,
});

function signed(
  { version }: SendingOptions,
  { eventId, body, sequence, number }: Claim,
  secrets: string[],
  startedAt: Date,
  traceparent: string,
): SignedAttempt {
  const signature = sign(secrets, eventId, timestampOf({ startedAt }), body);
  return { eventId, sequence, number, startedAt, signature, version, traceparent };
}

function secretsOf(
  { previousSecretUntil }: Target,
  { secret, previousSecret }: OpenTarget,
  now: Date,
): string[] {
  const isRotating = previousSecretUntil !== null && previousSecretUntil > now;
  return isRotating && previousSecret !== null ? [secret, previousSecret] : [secret];
}
