import type { Database } from '../../platform/database/postgres.js';
/** Operational notifications a shipper's other webhooks may ask for by name (`*` does not include them). */
export declare const notices: readonly ['WEBHOOK_DISABLED', 'WEBHOOK_FAILING', 'WEBHOOK_RECOVERED'];
/** What the owner of a webhook is to be told about it. */
export interface Notice {
    webhookId: string;
    state: (typeof notices)[number];
    reason: string | null;
}
/**
 * Records notices about webhooks as events of no shipment, owed to the shipper's other webhooks that name them in
 * their interests. The body: `{state, webhook_id, target_address, reason, timestamp}`, the address without its query. To be called in the
 * transaction that changes the webhook: told if and only if it happened. Returns the webhooks that are owed one.
 */
export declare function recordNotices(tx: Database, about: Notice[]): Promise<string[]>;
