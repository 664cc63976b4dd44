import { type Route } from '../../http/route.js';
import type { Database } from '../../platform/database/postgres.js';
import type { WebhookLimits } from '../../webhooks/limits.js';
export interface ReplayRoutesDependencies {
    db: Database;
    retentionMs: number;
    limits: WebhookLimits;
}
/** Catching up on what a webhook missed (contract, section 4). */
export declare function replayRoutes({ db, retentionMs, limits }: ReplayRoutesDependencies): Route[];
