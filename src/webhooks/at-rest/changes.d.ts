import type { Database } from '../../platform/database/postgres.js';
import { type AtRest } from './at-rest.js';
import type { WebhookChanges } from '../schema.js';
/** The changes as they are stored. Throws 400 for a masked value of a header that the webhook does not have. */
export declare function sealChanges({ tx, sealed }: {
    tx: Database;
    sealed: AtRest;
}, shipperId: string, webhookId: string, changes: WebhookChanges): Promise<WebhookChanges>;
