import type { Logger } from '../../platform/logger.js';
import type { Metrics } from '../../platform/metrics.js';
import type { AttemptRecord, Claim, Settlement } from '../outbox/types.js';

type Ended = AttemptRecord & Partial<Pick<Settlement, 'status' | 'delayMs'>>;

/** Counts and logs an attempt that has ended, whatever triggered it. */
export function noteAttempt(
  { metrics, logger }: { metrics: Metrics; logger: Logger },
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
    attempt: claim.number,
    trigger: claim.trigger,
    status: ended.status,
    statusCode,
    errorCode,
    durationMs: Math.round(durationMs),
    delayMs: ended.delayMs,
  };
  if (accepted) logger.info(line, 'attempt');
  else logger.warn(line, 'attempt ended too late: its lease was taken away');
}

/** Counts what became of a delivery after a scheduled attempt. */
export function noteSettlement(metrics: Metrics, claim: Claim, { status, trigger }: Settlement): void {
  if (status === 'RETRY') metrics.retriesScheduled.inc();
  if (status === 'FAILED') metrics.exhausted.inc();
  if (status === 'SUCCEEDED' || status === 'FAILED') metrics.completed.inc({ status });
  if (status === 'SUCCEEDED' && trigger === 'SCHEDULED')
    metrics.eventToSuccess.observe(secondsSince(claim, Date.now()));
}

/** Counts a delivery that an attempt by hand ended. */
export const noteSuccess = (metrics: Metrics): void => metrics.completed.inc({ status: 'SUCCEEDED' });

const secondsSince = ({ recordedAt }: Claim, nowMs: number) =>
  Math.max(0, nowMs - recordedAt.getTime()) / 1_000;
