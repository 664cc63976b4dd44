import { describeError } from '../../platform/errors.js';
import type { Logger } from '../../platform/telemetry/logger.js';
import type { Producer } from '../../platform/queue/engine.js';
import { reportSuccess } from '../circuit/transitions.js';
import {
  claimRedeliveries,
  giveRedeliveryBack,
  settleRedelivery,
  takeLapsedRedeliveries,
} from '../outbox/by-hand.js';
import { dueSinceUnknown, type Claim } from '../outbox/types.js';
import { supersedeAndRelease } from '../outbox/turns.js';
import { isLost } from '../settle/retry-policy.js';
import { noteSuccess } from '../settle/settler.js';
import { sendByHand, type ByHandOptions } from './by-hand.js';
import { deleteVoidRedeliveries, findWaitingRedeliveries, hasRedeliveries } from './by-hand-store.js';

const maxConcurrent = 50;
const maxPerWebhook = 5;
/** Another shipper's redelivery does not wait for receivers that hang. */
const maxPerShipper = 25;
const lapsedPerSweep = 100;

export interface Redeliverer {
  /** Claims and starts redeliveries. Those above the limit wait for the sweep. */
  handle(deliveryIds: string[]): Promise<void>;
  sweep(): Promise<void>;
  drain(): Promise<void>;
}

/**
 * Redeliveries wait for no turn, leave the retry schedule as it is and have places of their own, a few per webhook and
 * half of them per shipper.
 */
export function createRedeliverer(
  options: ByHandOptions & { orderHoldMs: number; terminalStates: string[] },
): Redeliverer {
  const { db, logger } = options;
  const underWay = new Set<Promise<void>>();
  const ofWebhooks = createCounts();
  const ofShippers = createCounts();
  let reserved = 0;
  let draining = false;

  /**
   * Notifies afterwards: a release or a claim of a due retry skips a delivery that is being redelivered. A state that
   * was overtaken meanwhile is cancelled first.
   */
  const attemptAndNotify = async (claim: Claim, issuedAt: number): Promise<void> => {
    const { ordered, supersedes, webhookId, shipmentId } = claim;
    try {
      await attempt(claim, issuedAt);
    } finally {
      if ((ordered || supersedes) && shipmentId !== null) {
        const turns = [{ webhookId, shipmentId, before: null }];
        options.notify(await supersedeAndRelease(db, { overtaken: supersedes ? turns : [], turns }, options));
      }
      options.notify(dueSinceUnknown([webhookId]));
    }
  };

  const attempt = async (claim: Claim, issuedAt: number): Promise<void> => {
    const isAboveLimit =
      ofWebhooks.of(claim.webhookId) > maxPerWebhook || ofShippers.of(claim.shipperId) > maxPerShipper;
    if (isAboveLimit || draining) return giveRedeliveryBack(db, claim);
    const sent = await sendByHand(options, claim, issuedAt, async (over, outcome) => {
      if (isLost(outcome)) throw new Error('its sender thread ended'); // it is made again when its lease has expired
      const settled = await settleRedelivery(over, outcome);
      if (settled?.finished) noteSuccess(options.metrics);
      return settled !== null;
    });
    if (!sent) return giveRedeliveryBack(db, claim);
    if (sent.settled && sent.succeeded && claim.troubled) await reportSuccess(options, claim.webhookId);
  };

  const start = (claim: Claim, issuedAt: number) => {
    const { webhookId, shipperId, deliveryId } = claim;
    ofWebhooks.add(webhookId, 1);
    ofShippers.add(shipperId, 1);
    const running = attemptAndNotify(claim, issuedAt)
      .catch((error: unknown) =>
        logger.error(
          { deliveryId, error: describeError(error) },
          'redelivery not completed; the sweeper continues',
        ),
      )
      .finally(() => {
        underWay.delete(running);
        ofWebhooks.add(webhookId, -1);
        ofShippers.add(shipperId, -1);
      });
    underWay.add(running);
  };

  const handle = async (deliveryIds: string[]) => {
    const ids = deliveryIds.slice(0, Math.max(0, maxConcurrent - underWay.size - reserved));
    if (draining || ids.length === 0) return;
    reserved += ids.length;
    try {
      const issuedAt = performance.now();
      for (const claim of await claimRedeliveries(db, ids, options.leaseMs)) start(claim, issuedAt);
    } finally {
      reserved -= ids.length;
    }
  };

  return {
    handle,
    sweep: async () => {
      if (!(await hasRedeliveries(db))) return;
      await deleteVoidRedeliveries(db);
      const lost = await takeLapsedRedeliveries(db, options.leaseMs, lapsedPerSweep);
      if (lost > 0) logger.info({ deliveries: lost }, 'leases of redeliveries expired; retrying them');
      const full = {
        webhooks: ofWebhooks.from(maxPerWebhook),
        shippers: ofShippers.from(maxPerShipper),
      };
      await handle(
        await findWaitingRedeliveries(db, full, { perWebhook: maxPerWebhook, limit: maxConcurrent }),
      );
    },
    drain: async () => {
      draining = true;
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}

function createCounts() {
  const counts = new Map<string, number>();
  const of = (id: string) => counts.get(id) ?? 0;
  return {
    of,
    add: (id: string, by: 1 | -1) => {
      if (of(id) + by > 0) counts.set(id, of(id) + by);
      else counts.delete(id);
    },
    from: (min: number) => [...counts].flatMap(([id, count]) => (count >= min ? [id] : [])),
  };
}

export const redeliverJob = 'redeliver';

export const createRedeliveryQueue =
  (producer: Producer, logger: Logger) =>
  (deliveryId: string): void => {
    producer
      .add([{ name: redeliverJob, id: `r-${deliveryId}-${Date.now()}`, ids: [deliveryId] }])
      .catch((error: unknown) =>
        logger.warn({ error: describeError(error) }, 'redelivery not enqueued; the sweeper sends it'),
      );
  };
