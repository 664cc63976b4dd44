import type { Logger } from '../../platform/telemetry/logger.js';
import type { Metrics } from '../../platform/telemetry/metrics.js';
import { traceIdOf } from '../../platform/telemetry/tracing.js';
import type { AttemptRecord, Claim, Settlement } from '../outbox/types.js';
import { errorCodes } from '../send/errors.js';

/** Where attempts are counted and logged. */
export interface AttemptWatch {
  metrics: Metrics;
  logger: Logger;
  /** `failed`: a success is logged at debug. */
  logAttempts: 'all' | 'failed';
}

/** Starts each counter of attempts at zero: to Prometheus, one that first appears at 1 has not increased. */
export function countAttemptsFromZero({ attempts, attemptDuration }: Metrics): void {
  const unanswered = errorCodes.filter((code) => code !== 'HTTP_STATUS');
  attempts.inc({ outcome: 'SUCCEEDED', status_class: '2xx' }, 0);
  for (const outcome of unanswered) attempts.inc({ outcome, status_class: 'none' }, 0);
  for (const status_class of ['3xx', '4xx', '5xx']) attempts.inc({ outcome: 'HTTP_STATUS', status_class }, 0);
  for (const outcome of ['success', 'failure']) attemptDuration.zero({ outcome });
}

type Ended = AttemptRecord & Partial<Pick<Settlement, 'status' | 'delayMs'>>;

/** Counts and logs an attempt that has ended, whatever its trigger. */
export function noteAttempt(
  { metrics, logger, logAttempts }: AttemptWatch,
  claim: Claim,
  ended: Ended,
  accepted: boolean,
): void {
  const { statusCode, errorCode, durationMs } = ended;
  metrics.attempts.inc({
    outcome: errorCode ?? 'SUCCEEDED',
    status_class: statusCode === null ? 'none' : `${Math.floor(statusCode / 100)}xx`,
  });
  metrics.attemptDuration.observe(
    { outcome: errorCode === null ? 'success' : 'failure' },
    durationMs / 1_000,
  );
  if (claim.trigger === 'SCHEDULED' && claim.number === 1)
    metrics.eventToFirstAttempt.observe(secondsSince(claim, ended.startedAt.getTime()));
  const line = {
    deliveryId: claim.deliveryId,
    webhookId: claim.webhookId,
    shipperId: claim.shipperId,
    trackingId: trackingIdOf(claim.body),
    eventId: claim.eventId,
    traceId: traceIdOf(claim.trace),
    attempt: claim.number,
    trigger: claim.trigger,
    status: ended.status,
    statusCode,
    errorCode,
    durationMs: Math.round(durationMs),
    delayMs: ended.delayMs,
  };
  const isLeftOut = logAttempts === 'failed' && errorCode === null;
  if (accepted) logger[isLeftOut ? 'debug' : 'info'](line, 'attempt');
  else logger.warn(line, 'attempt ended too late: its claim was lost');
}

/**
 * The shipment's tracking id, as a notification names it; undefined in a notice about a webhook. It is searched for from
 * the end: what precedes it may be long, and may have any names. Inside a string its quotes would be escaped.
 */
function trackingIdOf(body: string): string | undefined {
  const name = '"tracking_id":"';
  const start = body.lastIndexOf(name);
  if (start === -1) return undefined;
  const from = start + name.length;
  return body.slice(from, body.indexOf('"', from));
}

/** Since the event of the claim was recorded. */
export const secondsSince = ({ recordedAt }: Claim, nowMs: number): number =>
  Math.max(0, nowMs - recordedAt.getTime()) / 1_000;
