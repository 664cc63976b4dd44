import { tooManyRequests } from '../platform/errors.js';
import type { RateLimits } from '../platform/limits/rate-limit.js';

/** Throws ApiError TOO_MANY_REQUESTS where a cap is reached. */
export interface WebhookLimits {
  /** Before a test, a redelivery or a replay: counts by webhook, by shipper and by destination. */
  byHand(webhook: { shipperId: string; webhookId: string; targetAddress: string }): Promise<void>;
  /** Before a webhook is registered: counts by shipper and by destination. */
  creation(webhook: { shipperId: string; targetAddress: string }): Promise<void>;
}

export interface WebhookLimitOptions {
  limits: RateLimits;
  /** What may be asked for by hand an hour of one webhook; 0 is any number. */
  byHandPerWebhook: number;
  /** Webhooks a shipper may register an hour; 0 is any number. */
  creationsPerShipper: number;
  onLimited(limit: 'by_hand' | 'webhook_creation'): void;
}

const windowSeconds = 3_600;
/** Multiples of what one webhook may be sent by hand. It takes three shippers to use up what one destination takes. */
const ofShipper = 2;
const ofDestination = 6;
/** The same, of what one shipper may register. */
const creationsOfDestination = 3;

/** Nobody makes us a hammer: neither one webhook nor many shippers whose webhooks have one destination. */
export function createWebhookLimits(options: WebhookLimitOptions): WebhookLimits {
  const cap = (name: string, points: number) => options.limits.limit({ name, points, windowSeconds });
  const { byHandPerWebhook, creationsPerShipper } = options;
  const byHand = {
    webhook: cap('by-hand-webhook', byHandPerWebhook),
    shipper: cap('by-hand-shipper', byHandPerWebhook * ofShipper),
    destination: cap('by-hand-destination', byHandPerWebhook * ofDestination),
  };
  const creations = {
    shipper: cap('creation-shipper', creationsPerShipper),
    destination: cap('creation-destination', creationsPerShipper * creationsOfDestination),
  };

  /** One after the other: what is refused for its own number is not counted against others. */
  const spend = async (
    limit: 'by_hand' | 'webhook_creation',
    steps: [what: string, cap: ReturnType<typeof cap>, key: string][],
  ) => {
    for (const [what, counted, key] of steps) {
      const { left, resetMs } = await counted.spend(key);
      if (left >= 0) continue;
      options.onLimited(limit);
      throw tooManyRequests(`Too many ${what} in an hour.`, resetMs / 1_000);
    }
  };

  return {
    byHand: async ({ shipperId, webhookId, targetAddress }) => {
      if (byHandPerWebhook === 0) return;
      await spend('by_hand', [
        ['tests, redeliveries and replays of this webhook', byHand.webhook, webhookId],
        ['tests, redeliveries and replays of your webhooks', byHand.shipper, shipperId],
        ['tests, redeliveries and replays to this destination', byHand.destination, hostOf(targetAddress)],
      ]);
    },
    creation: async ({ shipperId, targetAddress }) => {
      if (creationsPerShipper === 0) return;
      await spend('webhook_creation', [
        ['webhooks created', creations.shipper, shipperId],
        ['webhooks created for this destination', creations.destination, hostOf(targetAddress)],
      ]);
    },
  };
}

/** Whoever is called there, whatever the port and the path. */
const hostOf = (targetAddress: string): string => new URL(targetAddress).hostname;
