import type { Database } from '../platform/database/postgres.js';
/** Holds what the shipper's webhooks are owed. */
export declare function suspendWebhooks(tx: Database, shipperId: string): Promise<void>;
/** What was held is due; ORDER_HOLD counts from now. */
export declare function resumeWebhooks(tx: Database, shipperId: string): Promise<void>;
/** Marks them deleted; the sweeper cancels what they are owed. */
export declare function deleteWebhooks(tx: Database, shipperId: string): Promise<void>;
/** The shipper's webhooks. */
export declare function webhooksOf(db: Database, shipperId: string): Promise<string[]>;
