import { describeError } from '../platform/errors.js';
import type { Logger } from '../platform/logger.js';
import type { SecretBox } from '../webhooks/secrets.js';
import { nextStep } from './retry-policy.js';
import type { SendOutcome, SendRequest } from './send.js';
import { sign } from './signature.js';
import type { Claim, Settlement } from './store.js';

export interface SendingOptions {
  secrets: SecretBox;
  send(request: SendRequest): Promise<SendOutcome>;
  logger: Logger;
  timeoutMs: number;
  userAgent: string;
}

/** Sends once. What cannot even be sent (its secret does not open) is an attempt that failed: it is not tried for ever. */
export async function sendClaim(options: SendingOptions, claim: Claim): Promise<SendOutcome> {
  try {
    return await options.send(requestOf(claim, options.secrets, options.timeoutMs, options.userAgent));
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
  statusCode: null,
  errorCode: 'PROTOCOL',
  responseBody: null,
  durationMs: 0,
  retryAfter: null,
  startedAt,
});

/** The request of one attempt: the stored bytes, signed now (contract, section 5). */
export function requestOf(
  claim: Claim,
  secrets: SecretBox,
  timeoutMs: number,
  userAgent: string,
): SendRequest {
  const timestampSeconds = Math.floor(Date.now() / 1_000);
  const opened = claim.secrets.map((sealed) => secrets.open(sealed));
  return {
    url: claim.targetAddress,
    body: claim.body,
    timeoutMs,
    headers: {
      ...claim.headers,
      'content-type': 'application/json',
      'user-agent': userAgent,
      'webhook-id': claim.eventId,
      'webhook-timestamp': String(timestampSeconds),
      'webhook-signature': sign(opened, claim.eventId, timestampSeconds, claim.body),
      'parcelhook-sequence': String(claim.sequence),
      'parcelhook-attempt': String(claim.number),
    },
  };
}

/** What is recorded of an attempt, and what becomes of its delivery. */
export function settlementOf(claim: Claim, outcome: SendOutcome, scheduleMs: readonly number[]): Settlement {
  const step =
    goneOrProbe(claim, outcome) ??
    nextStep({
      succeeded: outcome.ok,
      earlierFailures: claim.failureCount,
      scheduleMs,
      retryAfter: outcome.retryAfter,
      now: new Date(),
      random: Math.random(),
    });
  return {
    deliveryId: claim.deliveryId,
    number: claim.number,
    trigger: claim.trigger,
    status: step.status,
    delayMs: step.status === 'PENDING' ? step.delayMs : null,
    startedAt: outcome.startedAt,
    durationMs: outcome.durationMs,
    statusCode: outcome.statusCode,
    errorCode: outcome.errorCode,
    responseBody: outcome.responseBody,
  };
}

/** An answer of 410 Gone disables the webhook at once, whatever asked for the attempt (contract, section 5). */
export const isGone = ({ statusCode }: Pick<SendOutcome, 'statusCode'>): boolean => statusCode === 410;

/** Costs no retry: an answer of 410, which disables the webhook, and a failed probe, which leaves the circuit open. */
const goneOrProbe = (claim: Claim, outcome: SendOutcome): { status: 'HELD' } | null =>
  !outcome.ok && (isGone(outcome) || claim.isProbe) ? { status: 'HELD' } : null;
