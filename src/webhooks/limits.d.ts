import type { RateLimits } from '../platform/limits/rate-limit.js';
/** Throws ApiError TOO_MANY_REQUESTS where a cap is reached. */
export interface WebhookLimits {
    /** Before a test, a redelivery or a replay: counts by webhook, by shipper and by destination. */
    byHand(webhook: {
        shipperId: string;
        webhookId: string;
        targetAddress: string;
    }): Promise<void>;
    /** Before a webhook is registered: counts by shipper and by destination. */
    creation(webhook: {
        shipperId: string;
        targetAddress: string;
    }): Promise<void>;
}
export interface WebhookLimitOptions {
    limits: RateLimits;
    /** What may be asked for by hand an hour of one webhook; 0 is any number. */
    byHandPerWebhook: number;
    /** Webhooks a shipper may register an hour; 0 is any number. */
    creationsPerShipper: number;
    onLimited(limit: 'by_hand' | 'webhook_creation'): void;
}
/** Nobody makes us a hammer: neither one webhook nor many shippers whose webhooks have one destination. */
export declare function createWebhookLimits(options: WebhookLimitOptions): WebhookLimits;
