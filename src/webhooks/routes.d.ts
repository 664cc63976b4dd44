import { type Route } from '../http/route.js';
import type { Database } from '../platform/database/postgres.js';
import { type AtRest } from './at-rest/at-rest.js';
import type { DestinationPolicy } from './destination/destination.js';
import type { WebhookLimits } from './limits.js';
export interface WebhookDependencies {
    db: Database;
    sealed: AtRest;
    policy: DestinationPolicy;
    webhooksPerShipper: number;
    limits: WebhookLimits;
    /** Names a webhook may take interest in today; others are kept for a later catalogue. */
    knownInterests: ReadonlySet<string>;
    /** Resolves when no send to a webhook that was stopped just now can start any more. */
    onStopped(): Promise<void>;
    /** Cancels what a deleted webhook still had to get. */
    onDeleted(webhookId: string): Promise<void>;
    /** Sends on what a webhook missed while it was not active. */
    onResuming(tx: Database, shipperId: string, webhookId: string): Promise<void>;
    onResumed(webhookId: string): void;
    /** Its deliveries go one at a time from now on, or do so no more. */
    onReordered(webhookId: string): Promise<void>;
    /** How its deliveries have been doing. */
    health(webhookId: string): Promise<object>;
}
export declare function webhookRoutes(deps: WebhookDependencies): Route[];
