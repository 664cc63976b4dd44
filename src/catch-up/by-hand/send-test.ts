import { notFound, tooManyRequests, unavailable } from '../../platform/errors.js';
import { newId } from '../../platform/ids.js';
import { reportSuccess } from '../../engine/circuit/transitions.js';
import { findLastAttempt, type Attempt } from '../../history/log/store.js';
import { settle } from '../../engine/outbox/settle.js';
import { insertTest } from '../../engine/attempt/by-hand-store.js';
import { sampleShipment } from '../../webhooks/notification-docs.js';
import { sendByHand, type ByHandOptions } from '../../engine/attempt/by-hand.js';

const testsPerShipper = 5;

export type TestResult = { deliveryId: string; eventId: string } & Attempt;

/** Sends at once, from this process. Throws NOT_FOUND, or TOO_MANY_REQUESTS while too many tests of the shipper run. */
export function createTestSender(
  options: ByHandOptions & {
    render(shipment: typeof sampleShipment, event: { state: string }, timestampMs: number): string;
  },
): (shipperId: string, webhookId: string, state: string) => Promise<TestResult> {
  const { db } = options;
  const underWay = new Map<string, number>();

  const test = async (shipperId: string, webhookId: string, state: string) => {
    const issuedAt = performance.now();
    const event = { eventId: newId(), state, body: options.render(sampleShipment, { state }, Date.now()) };
    const claim = await insertTest(db, shipperId, webhookId, event, options.leaseMs);
    if (!claim) throw notFound('This webhook');
    const sent = await sendByHand(options, claim, issuedAt, async (over, { succeeded, ...attempt }) => {
      const settled = await settle(over, [
        { ...attempt, status: succeeded ? 'SUCCEEDED' : 'FAILED', reason: null, delayMs: null },
      ]);
      return settled.size > 0;
    });
    if (!sent) throw unavailable(); // too late to start; the sweeper settles it
    if (sent.settled && sent.succeeded && claim.troubled) await reportSuccess(options, webhookId);
    const sample = { ...event, sequence: claim.sequence, isErased: false, trace: claim.trace };
    const attempt = await findLastAttempt(db, shipperId, claim.deliveryId, sample);
    if (!attempt) throw unavailable();
    return { deliveryId: claim.deliveryId, eventId: claim.eventId, ...attempt };
  };

  return async (shipperId, webhookId, state) => {
    const others = underWay.get(shipperId) ?? 0;
    if (others >= testsPerShipper)
      throw tooManyRequests(`At most ${testsPerShipper} tests of one shipper may run at once.`, 1);
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
