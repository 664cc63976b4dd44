import { type Pool } from '../../../src/platform/database/postgres.js';
export declare const logger: import("pino").Logger;
/** A database of its own, looked at and changed by the real store functions over several connections. */
export interface World {
    db: Pool;
    databaseUrl: string;
    shipperId: string;
    sql<Row = Record<string, any>>(text: string, values?: unknown[]): Promise<Row[]>;
    stop(): Promise<void>;
}
export interface WebhookOptions {
    ordering?: 'SHIPMENT' | 'NONE';
    supersede?: boolean;
    interests?: string[];
}
export declare const openPool: (connectionString: string, maxConnections: number) => Pool;
export declare function createWorld(): Promise<World>;
export declare function addWebhook({ db, shipperId }: World, options?: WebhookOptions): Promise<string>;
/** A shipment that was accepted and has no state yet. */
export declare function addShipment({ db, shipperId }: World): Promise<string>;
export declare const setStatus: ({ db, shipperId }: World, webhookId: string, status: 'ACTIVE' | 'PAUSED') => Promise<import("../../../src/webhooks/store.js").Webhook | null>;
export interface OwedRow {
    delivery_id: string;
    webhook_id: string;
    shipment_id: string | null;
    sequence: number;
    status: 'READY' | 'SENDING' | 'RETRY';
    waits_turn: boolean;
    due_at: Date | null;
    lease_until: Date | null;
    attempt_count: number;
    failure_count: number;
    trigger: string;
}
/** What is owed, the earlier states of a shipment first. */
export declare const outboxOf: ({ sql }: World, webhookId?: string) => Promise<OwedRow[]>;
export interface LoggedRow {
    delivery_id: string;
    webhook_id: string;
    sequence: number;
    shipment_id: string | null;
    state: string;
    status: 'SUCCEEDED' | 'FAILED' | 'CANCELLED';
    reason: string | null;
    attempt_count: number;
    trigger: string | null;
    completed_at: Date;
}
export declare const logOf: ({ sql }: World, webhookId?: string) => Promise<LoggedRow[]>;
/** What became of each state, by its number: `2 RETRY`, `3 waits`, `1 SUCCEEDED`. */
export declare function picture(world: World, webhookId: string): Promise<string[]>;
