import { notFound, unavailable } from '../../platform/errors.js';
import { newId } from '../../platform/ids.js';
import { reportSuccess } from '../circuit/transitions.js';
import { settle } from '../outbox/settle.js';
import type { Claim } from '../outbox/types.js';
import { renderNotification } from '../record/notification.js';
import { sendByHand, type ByHandOptions } from './by-hand.js';
import { insertTest } from './by-hand-store.js';

export interface Sample {
  state: string;
  shipment: { trackingId: string; shipperTrackingId: string };
}

/** Sends at once, from this process. Throws NOT_FOUND without the webhook. */
export async function sendTest(
  options: ByHandOptions,
  shipperId: string,
  webhookId: string,
  { state, shipment }: Sample,
): Promise<Claim> {
  const { db } = options;
  const issuedAt = performance.now();
  const event = { eventId: newId(), state, body: renderNotification(shipment, { state }, Date.now()) };
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
  return claim;
}
