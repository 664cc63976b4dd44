import { tooManyRequests } from '../platform/errors.js';
import { isLoopback } from '../platform/networks.js';
import type { RateLimits } from '../platform/limits/rate-limit.js';
import type { StoredBytes } from '../platform/limits/stored-bytes.js';

export type WebhookLimits = ReturnType<typeof createWebhookLimits>;

type Limit = 'by_hand' | 'webhook_creation' | 'webhook_change';

export interface WebhookLimitOptions {
  limits: RateLimits;
  stored: StoredBytes;
  byHandPerWebhook: number;
  creationsPerShipper: number;
  onLimited(limit: Limit): void;
}

const hour = { name: 'an hour', seconds: 3_600 };
const minute = { name: 'a minute', seconds: 60 };
const changesPerWebhook = 60;
/** Multiples of the cap of one webhook. It takes three shippers to use up the cap of a destination. */
const byHandOfShipper = 2;
const byHandOfDestination = 6;
const creationsOfDestination = 3;

/**
 * Keeps the service from flooding a destination, even for several shippers whose webhooks share it. Each function throws
 * ApiError TOO_MANY_REQUESTS if a cap is reached.
 */
export function createWebhookLimits(options: WebhookLimitOptions) {
  const cap = (name: string, points: number, { seconds } = hour) =>
    options.limits.limit({ name, points, windowSeconds: seconds });
  const { byHandPerWebhook, creationsPerShipper } = options;
  const byHand = {
    webhook: cap('by-hand-webhook', byHandPerWebhook),
    shipper: cap('by-hand-shipper', byHandPerWebhook * byHandOfShipper),
    destination: cap('by-hand-destination', byHandPerWebhook * byHandOfDestination),
  };
  const creations = {
    shipper: cap('creation-shipper', creationsPerShipper),
    destination: cap('creation-destination', creationsPerShipper * creationsOfDestination),
  };

  const changes = cap('change-webhook', changesPerWebhook, minute);

  /** Spends in sequence, so that a request refused by one cap does not count against the next. */
  const spend = async (
    limit: Limit,
    steps: (readonly [what: string, cap: ReturnType<typeof cap>, key: string])[],
    within = hour,
  ) => {
    for (const [what, counted, key] of steps) {
      const { left, resetMs } = await counted.spend(key);
      if (left >= 0) continue;
      options.onLimited(limit);
      throw tooManyRequests(`Too many ${what} within ${within.name}.`, resetMs / 1_000);
    }
  };

  const creation = async ({ shipperId, targetAddress }: { shipperId: string; targetAddress: string }) => {
    if (creationsPerShipper === 0) return;
    const host = hostOf(targetAddress);
    await spend('webhook_creation', [
      ['webhooks created, or moved to another host,', creations.shipper, shipperId],
      // Where this machine may be a destination, in development and in tests, all accounts share it.
      ...(isLoopback(host)
        ? []
        : [['webhooks created for this destination, or moved to it,', creations.destination, host] as const]),
    ]);
  };

  return {
    /** Call it before a test, a redelivery or a replay. Counts by webhook, shipper and destination. */
    byHand: async (webhook: { shipperId: string; webhookId: string; targetAddress: string }) => {
      const { shipperId, webhookId, targetAddress } = webhook;
      options.stored.require(shipperId); // each stores responses
      if (byHandPerWebhook === 0) return;
      await spend('by_hand', [
        ['tests, redeliveries and replays of this webhook', byHand.webhook, webhookId],
        ['tests, redeliveries and replays of your webhooks', byHand.shipper, shipperId],
        ['tests, redeliveries and replays to this destination', byHand.destination, hostOf(targetAddress)],
      ]);
    },
    /** Call it before a webhook is registered. Counts by shipper and destination. */
    creation,
    /** Call it before a webhook of the caller is changed. */
    change: (webhookId: string) =>
      spend('webhook_change', [['changes of this webhook', changes, webhookId]], minute),
    /** Call it before a webhook gets another address: at another host, that counts as a registration. */
    move: async ({ shipperId, from, to }: { shipperId: string; from: string; to: string }) => {
      if (hostOf(from) !== hostOf(to)) await creation({ shipperId, targetAddress: to });
    },
  };
}

const hostOf = (targetAddress: string): string => new URL(targetAddress).hostname;
