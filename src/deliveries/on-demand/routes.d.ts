import { type Route } from '../../http/route.js';
import type { Database } from '../../platform/database/postgres.js';
import type { WebhookLimits } from '../../webhooks/limits.js';
import type { TestResult } from './test.js';
export interface OnDemandDependencies {
    db: Database;
    /** What a test sends unless the caller names a state. */
    sampleState: string;
    knownStates: ReadonlySet<string>;
    sendTest(shipperId: string, webhookId: string, state: string): Promise<TestResult>;
    /** Makes a worker send it at once. */
    enqueueRedelivery(deliveryId: string): void;
    limits: WebhookLimits;
}
export declare const tooManyByHand = "so much was asked for by hand of the webhook, your webhooks or their destination within an hour.";
/** Sending by hand: tests and redeliveries (contract, section 4). */
export declare function onDemandRoutes(deps: OnDemandDependencies): Route[];
