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
import { releaseTurns } from '../outbox/turns.js';
import { noteSuccess } from '../settle/settler.js';
import { sendByHand, type ByHandOptions } from './send.js';
import { deleteVoidRedeliveries, findWaitingRedeliveries, hasRedeliveries } from './store.js';

const maxConcurrent = 50;
const maxPerWebhook = 5;
const lapsedPerSweep = 100;

export interface Redeliverer {
  /** Claims and starts redeliveries. Those above the limit wait for the sweep. */
  handle(deliveryIds: string[]): Promise<void>;
  sweep(): Promise<void>;
  drain(): Promise<void>;
}

/** Redeliveries wait for no turn, leave the retry schedule as it is and have places of their own, a few per webhook. */
export function createRedeliverer(options: ByHandOptions & { orderHoldMs: number }): Redeliverer {
  const { db, logger } = options;
  const underWay = new Set<Promise<void>>();
  const perWebhook = new Map<string, number>();
  let reserved = 0;
  let draining = false;

  /** Notifies afterwards: a release or a claim of a due retry skips a delivery that is being redelivered. */
  const attemptAndNotify = async (claim: Claim, issuedAt: number): Promise<void> => {
    const { ordered, webhookId, shipmentId } = claim;
    try {
      await attempt(claim, issuedAt);
    } finally {
      options.notify(dueSinceUnknown([webhookId]));
      if (ordered && shipmentId !== null)
        options.notify(await releaseTurns(db, [{ webhookId, shipmentId }], options.orderHoldMs));
    }
  };

  const attempt = async (claim: Claim, issuedAt: number): Promise<void> => {
    const isAboveLimit = (perWebhook.get(claim.webhookId) ?? 0) > maxPerWebhook;
    if (isAboveLimit || draining) return giveRedeliveryBack(db, claim);
    const sent = await sendByHand(options, claim, issuedAt, async (over, outcome) => {
      const settled = await settleRedelivery(over, outcome);
      if (settled?.finished) noteSuccess(options.metrics);
      return settled !== null;
    });
    if (!sent) return giveRedeliveryBack(db, claim);
    if (sent.settled && sent.succeeded && claim.troubled) await reportSuccess(options, claim.webhookId);
  };

  const start = (claim: Claim, issuedAt: number) => {
    const { webhookId, deliveryId } = claim;
    perWebhook.set(webhookId, (perWebhook.get(webhookId) ?? 0) + 1);
    const running = attemptAndNotify(claim, issuedAt)
      .catch((error: unknown) =>
        logger.error(
          { deliveryId, error: describeError(error) },
          'redelivery not completed; the sweeper continues',
        ),
      )
      .finally(() => {
        underWay.delete(running);
        const left = (perWebhook.get(webhookId) ?? 1) - 1;
        if (left > 0) perWebhook.set(webhookId, left);
        else perWebhook.delete(webhookId);
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
      await handle(await findWaitingRedeliveries(db, maxPerWebhook, maxConcurrent));
    },
    drain: async () => {
      draining = true;
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}

export const createRedeliveryQueue =
  (producer: Producer, logger: Logger) =>
  (deliveryId: string): void => {
    producer
      .add([{ name: 'redeliver', id: `r-${deliveryId}-${Date.now()}`, ids: [deliveryId] }])
      .catch((error: unknown) =>
        logger.warn({ error: describeError(error) }, 'redelivery not enqueued; the sweeper sends it'),
      );
  };
