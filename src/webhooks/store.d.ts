import type { Database } from '../platform/database/postgres.js';
import type { WebhookChanges, WebhookInput } from './schema.js';
/** As stored: what is sealed in its address and headers is still so. */
export interface Webhook {
    webhookId: string;
    interests: string[];
    targetAddress: string;
    status: 'ACTIVE' | 'PAUSED' | 'DISABLED';
    disabledReason: string | null;
    ordering: 'SHIPMENT' | 'NONE';
    supersede: boolean;
    headers: Record<string, string>;
    description: string;
    createdAt: Date;
    updatedAt: Date;
}
/** Null where the shipper has `limit` webhooks already. */
export declare function insertWebhook(db: Database, shipperId: string, webhook: WebhookInput & {
    webhookId: string;
    sealedSecret: string;
}, limit: number): Promise<Webhook | null>;
/** The shipper's webhooks in the order of their creation, those after `afterId`. */
export declare function listWebhooks(db: Database, shipperId: string, afterId: string | undefined, limit: number): Promise<Webhook[]>;
export declare function findWebhook(db: Database, shipperId: string, webhookId: string): Promise<Webhook | null>;
/** The webhook's headers as stored, which nobody changes until the transaction ends; null without that webhook. */
export declare function lockHeaders(tx: Database, shipperId: string, webhookId: string): Promise<Record<string, string> | null>;
/** Merges the changes; null without that webhook. What was held is due as soon as it is ACTIVE. */
export declare function updateWebhook(db: Database, shipperId: string, webhookId: string, changes: WebhookChanges): Promise<Webhook | null>;
/** Marks the webhook deleted. False without that webhook. */
export declare function markDeleted(db: Database, shipperId: string, webhookId: string): Promise<boolean>;
/**
 * Puts a new secret in place; the one before signs along for `overlapMs`, and an older one no more. Answers until when,
 * null without that webhook.
 */
export declare function rotateSecret(db: Database, shipperId: string, webhookId: string, sealedSecret: string, overlapMs: number): Promise<Date | null>;
