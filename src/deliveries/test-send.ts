import { notFound, tooManyRequests, unavailable } from '../platform/errors.js';
import { newId } from '../platform/ids.js';
import { listAttempts, type Attempt } from './log-store.js';
import { manualLeaseMs, sendOnce, type UnscheduledOptions } from './manual.js';
import { insertTest } from './test-store.js';
import { longestStartMs } from './timing.js';

const testsPerShipper = 5;

export type TestResult = { deliveryId: string; eventId: string } & Attempt;

/**
 * Sends sample notifications at once, from this process. The result is the attempt as it stands in the log. Throws
 * 404 without that webhook, 429 while too many tests of the shipper are under way.
 */
export function createTestSender(
  options: UnscheduledOptions & { renderSample(state: string, timestampMs: number): string },
): (shipperId: string, webhookId: string, state: string) => Promise<TestResult> {
  const { db } = options;
  const underWay = new Map<string, number>();

  const test = async (shipperId: string, webhookId: string, state: string) => {
    const claimedAt = performance.now();
    const event = { eventId: newId(), state, body: options.renderSample(state, Date.now()) };
    const claim = await insertTest(db, shipperId, webhookId, event, manualLeaseMs(options.timeoutMs));
    if (!claim) throw notFound('This webhook');
    // Not sent that late, because a deletion waits no longer for it; the sweeper ends it.
    if (performance.now() - claimedAt > longestStartMs) throw unavailable();
    await sendOnce(options, claim);
    const [attempt] = await listAttempts(db, claim.deliveryId);
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
