import { describeError } from '../../platform/errors.js';
import type { Logger } from '../../platform/logger.js';
import type { Producer } from '../../platform/queue/engine.js';
import { reportSuccess } from '../circuit/transitions.js';
import {
  claimRedeliveries,
  giveRedeliveryBack,
  settleRedelivery,
  takeLapsedRedeliveries,
} from '../outbox/by-hand.js';
import { dueSinceUnknown } from '../outbox/hand-over.js';
import { giveTurns } from '../outbox/turns.js';
import type { Claim } from '../outbox/types.js';
import { noteSuccess } from '../record/notes.js';
import { sendByHand, type ByHandOptions } from './send-by-hand.js';
import { dropVoid, findWaiting, isAnythingAsked } from './store.js';

const atOnce = 50;
const atOnceOfOneWebhook = 5;
const lapsedPerSweep = 100;

export interface Redeliverer {
  /** Claims and sends attempts by hand; resolves when they are under way. What finds no room waits for the sweep. */
  handle(deliveryIds: string[]): Promise<void>;
  /** Takes up what no job came for and whose process is gone. */
  sweep(): Promise<void>;
  drain(): Promise<void>;
}

/**
 * Sends once what was asked for by hand, beside the scheduled attempts: it waits for no turn, takes nothing from
 * the retry schedule and has room of its own, of which one webhook gets a part only.
 */
export function createRedeliverer(options: ByHandOptions & { orderHoldMs: number }): Redeliverer {
  const { db, logger } = options;
  const underWay = new Set<Promise<void>>();
  const perWebhook = new Map<string, number>();
  let promised = 0;
  let draining = false;

  /**
   * While it was claimed its turn may have come, and whoever gives turns passes over what is locked; or its retry
   * became due, and whoever pulled passed over what was being sent.
   */
  const attemptAndPassOn = async (claim: Claim, issuedAt: number): Promise<void> => {
    const { ordered, webhookId, shipmentId } = claim;
    try {
      await attempt(claim, issuedAt);
    } finally {
      options.notify(dueSinceUnknown([webhookId]));
      if (ordered && shipmentId !== null)
        options.notify(await giveTurns(db, [{ webhookId, shipmentId }], options.orderHoldMs));
    }
  };

  const attempt = async (claim: Claim, issuedAt: number): Promise<void> => {
    const crowded = (perWebhook.get(claim.webhookId) ?? 0) > atOnceOfOneWebhook;
    if (crowded || draining) return giveRedeliveryBack(db, claim);
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
    const running = attemptAndPassOn(claim, issuedAt)
      .catch((error: unknown) =>
        logger.error({ deliveryId, error: describeError(error) }, 'attempt by hand not recorded'),
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
    const ids = deliveryIds.slice(0, Math.max(0, atOnce - underWay.size - promised));
    if (draining || ids.length === 0) return;
    promised += ids.length;
    try {
      const issuedAt = performance.now();
      for (const claim of await claimRedeliveries(db, ids, options.leaseMs)) start(claim, issuedAt);
    } finally {
      promised -= ids.length;
    }
  };

  return {
    handle,
    sweep: async () => {
      if (!(await isAnythingAsked(db))) return;
      await dropVoid(db);
      const lost = await takeLapsedRedeliveries(db, options.leaseMs, lapsedPerSweep);
      if (lost > 0) logger.info({ deliveries: lost }, 'attempts by hand were lost');
      await handle(await findWaiting(db, atOnceOfOneWebhook, atOnce));
    },
    drain: async () => {
      draining = true;
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}

/** Makes a worker send attempts by hand at once; without the queue the next sweep does. */
export const createRedeliveryQueue =
  (producer: Producer, logger: Logger) =>
  (deliveryId: string): void => {
    producer
      .add([{ name: 'redeliver', id: `r-${deliveryId}-${Date.now()}`, ids: [deliveryId] }])
      .catch((error: unknown) =>
        logger.warn({ error: describeError(error) }, 'not enqueued; the sweeper will see to it'),
      );
  };
