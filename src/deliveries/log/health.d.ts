import type { Database } from '../../platform/database/postgres.js';
/** `health` of a webhook as the API shows it (contract, section 4). */
export declare function webhookHealth(db: Database, webhookId: string): Promise<object>;
