import { describeError } from '../../platform/errors.js';
import type { Logger } from '../../platform/logger.js';
import type { Starts } from '../outbox/starts.js';
import type { Target } from '../outbox/targets.js';
import type { Claim } from '../outbox/types.js';
import type { SendOutcome, SendRequest } from './sender.js';
import { sign } from './signature.js';

export interface SendingOptions {
  send(request: SendRequest): Promise<SendOutcome>;
  starts: Starts;
  logger: Logger;
  timeoutMs: number;
  userAgent: string;
}

/**
 * Sends once; null if it might not start any more. What cannot even be sent (no key opens its secrets) is an attempt that
 * failed: it is not tried for ever.
 */
export async function sendClaim(
  options: SendingOptions,
  claim: Claim,
  target: Target,
  issuedAt: number,
): Promise<SendOutcome | null> {
  if (!options.starts.isSoon(issuedAt)) return null;
  try {
    const mayStart = () => options.starts.mayStart(claim, issuedAt);
    const outcome = await options.send({ ...requestOf(options, claim, target), mayStart });
    if (outcome.withheld) return null;
    return claim.erased ? { ...outcome, responseBody: null } : outcome;
  } catch (error) {
    options.logger.error(
      { deliveryId: claim.deliveryId, error: describeError(error) },
      'notification not made',
    );
    return unsent(new Date());
  }
}

const unsent = (startedAt: Date): SendOutcome => ({
  ok: false,
  withheld: false,
  statusCode: null,
  errorCode: 'PROTOCOL',
  responseBody: null,
  durationMs: 0,
  retryAfter: null,
  startedAt,
});

/** The request of one attempt: the stored bytes, signed now (contract, section 5). */
function requestOf(
  { timeoutMs, userAgent }: SendingOptions,
  { shipperId, eventId, body, sequence, number }: Claim,
  target: Target,
): SendRequest {
  const { url, headers, secret, previousSecret } = target.open();
  const secrets = previousSecret !== null && isRotating(target) ? [secret, previousSecret] : [secret];
  const timestampSeconds = Math.floor(Date.now() / 1_000);
  return {
    url,
    shipperId,
    body,
    timeoutMs,
    headers: {
      ...headers,
      'content-type': 'application/json',
      'user-agent': userAgent,
      'webhook-id': eventId,
      'webhook-timestamp': String(timestampSeconds),
      'webhook-signature': sign(secrets, eventId, timestampSeconds, body),
      'parcelhook-sequence': String(sequence),
      'parcelhook-attempt': String(number),
    },
  };
}

const isRotating = ({ previousSecretUntil }: Target) =>
  previousSecretUntil !== null && previousSecretUntil.getTime() > Date.now();
