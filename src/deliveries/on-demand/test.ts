import type { Database } from '../../platform/database/postgres.js';
import { notFound, tooManyRequests, unavailable } from '../../platform/errors.js';
import { newId } from '../../platform/ids.js';
import { reportSuccess } from '../circuit/transitions.js';
import { findLastAttempt, type Attempt } from '../log/attempts.js';
import { oweTest } from '../outbox/insert.js';
import { settle } from '../outbox/settle.js';
import { isTroubled } from '../outbox/sql.js';
import type { Claim } from '../outbox/types.js';
import { sendByHand, type ByHandOptions } from './send-by-hand.js';

const testsPerShipper = 5;

export type TestResult = { deliveryId: string; eventId: string } & Attempt;

/**
 * Sends sample notifications at once, from this process. The result is the attempt as it stands in the log. Throws
 * 404 without that webhook, 429 while too many tests of the shipper are under way.
 */
export function createTestSender(
  options: ByHandOptions & { renderSample(state: string, timestampMs: number): string },
): (shipperId: string, webhookId: string, state: string) => Promise<TestResult> {
  const { db } = options;
  const underWay = new Map<string, number>();

  const test = async (shipperId: string, webhookId: string, state: string) => {
    const issuedAt = performance.now();
    const event = { eventId: newId(), state, body: options.renderSample(state, Date.now()) };
    const claim = await insertTest(db, shipperId, webhookId, event, options.leaseMs);
    if (!claim) throw notFound('This webhook');
    const sent = await sendByHand(options, claim, issuedAt, async (over, { succeeded, ...attempt }) => {
      const settled = await settle(over, [
        { ...attempt, status: succeeded ? 'SUCCEEDED' : 'FAILED', delayMs: null },
      ]);
      return settled.size > 0;
    });
    if (!sent) throw unavailable(); // not sent that late; the sweeper ends it
    if (sent.settled && sent.succeeded && claim.troubled) await reportSuccess(options, webhookId);
    const told = { ...event, sequence: claim.sequence, isErased: false };
    const attempt = await findLastAttempt(db, shipperId, claim.deliveryId, told);
    if (!attempt) throw unavailable();
    return { deliveryId: claim.deliveryId, eventId: claim.eventId, ...attempt };
  };

  return async (shipperId, webhookId, state) => {
    const others = underWay.get(shipperId) ?? 0;
    if (others >= testsPerShipper)
      throw tooManyRequests(`At most ${testsPerShipper} tests may run at once.`, 1);
    underWay.set(shipperId, others + 1);
    try {
      return await test(shipperId, webhookId, state);
    } finally {
      const left = (underWay.get(shipperId) ?? 1) - 1;
      if (left > 0) underWay.set(shipperId, left);
      else underWay.delete(shipperId);
    }
  };
}

interface SampleEvent {
  eventId: string;
  state: string;
  body: string;
}

/**
 * Records a test: an event that belongs to no shipment, and its delivery, claimed from the start. The lock on the
 * webhook makes a deletion either prevent the test or see that it is under way. Null without that webhook, or where its
 * shipper is suspended.
 */
async function insertTest(
  db: Database,
  shipperId: string,
  webhookId: string,
  event: SampleEvent,
  leaseMs: number,
): Promise<Claim | null> {
  const rows = await db.query<Pick<Claim, 'deliveryId' | 'revision' | 'troubled' | 'recordedAt'>>(
    'insert-test',
    `with w as (
       select * from webhooks where webhook_id = $2 and shipper_id = $1 and deleted_at is null and not suspended for share
     ), recorded as (
       insert into events (event_id, shipper_id, sequence, state, recorded_at, body)
       select $3, shipper_id, 1, $4, now(), $5 from w
     ), owed as (
       ${oweTest('select shipper_id, $3::uuid as event_id, webhook_id, $4::text as state from w', '$6')}
     )
     select o.delivery_id as "deliveryId", w.revision, now() as "recordedAt",
            exists (select 1 from circuits c where c.webhook_id = w.webhook_id and ${isTroubled('c')}) as troubled
       from w, owed o`,
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
