import { databaseNowMs } from '../../platform/clock.js';
import { describeError, notFound, unavailable } from '../../platform/errors.js';
import { newId } from '../../platform/ids.js';
import type { Database } from '../../platform/database/postgres.js';
import type { Durations } from '../../platform/durations.js';
import { disableByResponse, reportSuccess, type TransitionDependencies } from '../circuit/transitions.js';
import { oweTest } from '../outbox/insert.js';
import { settle } from '../outbox/settle.js';
import { isTroubled, traceOf } from '../outbox/sql.js';
import type { Claim } from '../outbox/types.js';
import { renderNotification } from '../record/notification.js';
import { attemptRecordOf, disabledBy } from '../settle/retry-policy.js';
import { retryWhileDatabaseDown } from '../settle/settler.js';
import { makeAttempt, type AttemptOptions, type AttemptSteps } from './attempt.js';

export interface Sample {
  state: string;
  shipment: { trackingId: string; shipperTrackingId: string };
}

export interface TestOptions extends AttemptOptions, Omit<TransitionDependencies, 'durations'> {
  durations: Durations;
  timeoutMs: number;
}

/** Leaves time to record the outcome. No test lasts longer, so the lease needs no renewal. */
export const testLeaseMs = (timeoutMs: number, { leaseMs }: Pick<Durations, 'leaseMs'>): number =>
  timeoutMs + leaseMs;

/**
 * Sends at once, from this process, without its lanes. A failure does not count for the circuit. Throws NOT_FOUND
 * without the webhook.
 */
export async function sendTest(
  options: TestOptions,
  shipperId: string,
  webhookId: string,
  { state, shipment }: Sample,
): Promise<Claim> {
  const issuedAt = performance.now();
  const nowMs = databaseNowMs();
  const event = { eventId: newId(nowMs), state, body: renderNotification(shipment, { state }, nowMs) };
  const leaseMs = testLeaseMs(options.timeoutMs, options.durations);
  const claim = await insertTest(options.db, shipperId, webhookId, event, leaseMs);
  if (!claim) throw notFound('This webhook');
  const outcome = await makeAttempt(options, claim, issuedAt, { settle: settling(options, claim) });
  if (!outcome) throw unavailable(); // too late to start; the sweeper settles it
  return claim;
}

const settling = (options: TestOptions, claim: Claim): AttemptSteps['settle'] => {
  const { db, logger, durations } = options;
  return async (target, outcome) => {
    const disables = disabledBy(outcome);
    if (disables !== null)
      await disableByResponse(options, [target], disables).catch((error: unknown) =>
        logger.warn(
          { webhookId: claim.webhookId, error: describeError(error) },
          'webhook not disabled; the next attempt retries',
        ),
      );
    const status = outcome.ok ? 'SUCCEEDED' : 'FAILED';
    const ended = { ...attemptRecordOf(claim, outcome), status, reason: null, delayMs: null } as const;
    const giveUpAt = performance.now() + durations.leaseMs - durations.maxStartMs; // the lease is certainly valid
    const settled = await retryWhileDatabaseDown(
      () => settle(db, [ended]),
      () => performance.now() < giveUpAt,
      durations.patienceMs,
    );
    const accepted = settled.size > 0;
    if (accepted && outcome.ok && claim.troubled) await reportSuccess(options, target);
    return { ended, accepted };
  };
};

interface SampleEvent {
  eventId: string;
  state: string;
  body: string;
}

/**
 * The delivery is already claimed. Because of the lock on the webhook, a deletion either prevents the test or sees it.
 * Null without the webhook, or if its shipper is suspended.
 */
export async function insertTest(
  db: Database,
  shipperId: string,
  webhookId: string,
  event: SampleEvent,
  leaseMs: number,
): Promise<Claim | null> {
  const rows = await db.query<Pick<Claim, 'deliveryId' | 'revision' | 'troubled' | 'recordedAt' | 'trace'>>(
    'insert-test',
    `with w as (
       select * from webhooks where webhook_id = $2 and shipper_id = $1 and deleted_at is null and not suspended for share
     ), recorded as (
       insert into events (event_id, shipper_id, sequence, state, recorded_at, body)
       select $3, shipper_id, 1, $4, now(), $5 from w
       returning event_id, trace
     ), owed as (
       ${oweTest('select shipper_id, $3::uuid as event_id, webhook_id, $4::text as state from w', '$6')}
     )
     select o.delivery_id as "deliveryId", w.revision, now() as "recordedAt",
            exists (select 1 from circuits c where c.webhook_id = w.webhook_id and ${isTroubled('c')}) as troubled,
            ${traceOf('e')} as trace
       from w, owed o, recorded e`,
    [shipperId, webhookId, event.eventId, event.state, event.body, leaseMs],
  );
  const [row] = rows;
  if (!row) return null;
  return {
    ...row,
    shipperId,
    webhookId,
    eventId: event.eventId,
    body: event.body,
    large: null,
    shipmentId: null,
    sequence: 1,
    number: 1,
    trigger: 'TEST',
    failureCount: 0,
    ordered: false,
    supersedes: false,
    isProbe: false,
    erased: false,
  };
}
