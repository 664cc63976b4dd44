import type { Database } from '../../platform/database/postgres.js';
/** Redeliveries that one delivery takes in any 24 hours. */
export declare const redeliveriesPerDay = 100;
export interface Redeliverable {
    webhookId: string;
    targetAddress: string;
    /** Until one more attempt by hand may be asked for; 0: now. */
    waitMs: number;
}
/** Where a delivery goes, and when it may be sent by hand again. Null without that delivery. */
export declare function findRedeliverable(db: Database, shipperId: string, deliveryId: string): Promise<Redeliverable | null>;
