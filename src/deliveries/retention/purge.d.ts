import type { Logger } from '../../platform/logger.js';
import type { Database } from '../../platform/database/postgres.js';
/**
 * Makes steps of a walk over the deleted webhooks. Each looks at some hundreds and purges those that nothing mentions any
 * more: neither outbox nor log, nor a replay. Resolves with whether the walk goes on; after its end the next step begins
 * another one.
 */
export declare function createPurge(db: Database, logger: Logger): () => Promise<boolean>;
